package verify_test

import (
	"fmt"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/workload"
)

// Another scheduler preempts two pods where one is enough.
func ExamplePlacement() {
	cpu := func(n int64) workload.Resources { return workload.Resources{"cpu": n} }
	state := placement.State{
		Nodes: []workload.Node{{Name: "n", Capacity: cpu(4)}},
		Pods:  []workload.Pod{{ID: "a", Node: "n", Requests: cpu(2)}, {ID: "b", Node: "n", Requests: cpu(2)}},
	}
	request := placement.Request{Priority: 1, Pods: []workload.Pod{{ID: "c", Requests: cpu(2)}}}
	theirs := placement.Decision{Outcome: preemption.Preempt, Placement: placement.Placement{
		Nominations: []placement.Nomination{{Pod: "c", Node: "n"}},
		Victims:     []placement.Victim{{Pods: []string{"a"}}, {Pods: []string{"b"}}},
	}}
	fmt.Println(verify.Placement(state, request, placement.Config{}, theirs))
	// Output: decision.victims: [a] can stay; decision.victims: [b] can stay
}
