package preemption

import "github.com/cedesched/cede/internal/base/fault"

// Faults is everything that is wrong with an input, each fault with its path, in the order of the
// input. Every error about an input, in all packages of this library, is one: nothing stops at the
// first fault, so an operator mends a file once. It is an error of several (errors.Is, errors.As).
//
//	decision, err := preemptor.Decide(snapshot, request)
//	if faults, ok := err.(preemption.Faults); ok {
//		for _, f := range faults {
//			fmt.Println(f.Path, f.Problem) // queues[2].quotas[0].nominal -1 is negative (queue "a")
//		}
//	}
type Faults = fault.List

// Fault is one thing that is wrong with an input.
type Fault = fault.Fault
