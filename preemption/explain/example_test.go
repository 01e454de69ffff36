package explain_test

import (
	"fmt"
	"log"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// explained is a workload of six GPUs that does not fit in the queues of the tests.
func explained() explain.Explanation {
	snapshot, err := preemption.NewSnapshot(state())
	if err != nil {
		log.Fatal(err)
	}
	e, err := explain.Explain(new(preemption.Preemptor), snapshot, preemption.Request{Workload: job("a/new", "team-a", 5, 6, 0), Now: now})
	if err != nil {
		log.Fatal(err)
	}
	return e
}

// explainedPlacement is a pod of two GPUs that has no place on one node.
func explainedPlacement() explain.PlacementExplanation {
	snapshot, err := placement.NewSnapshot(placement.State{Nodes: []workload.Node{{Name: "n1", Capacity: workload.Resources{"gpu": 1}}}})
	if err != nil {
		log.Fatal(err)
	}
	e, err := explain.ExplainPlacement(new(placement.Preemptor), snapshot, placement.Request{Pods: []workload.Pod{{ID: "ns/new", Requests: workload.Resources{"gpu": 2}}}, Now: now})
	if err != nil {
		log.Fatal(err)
	}
	return e
}

// An explanation in steps, for a page.
func ExampleSteps() {
	for i, step := range explain.Steps(explained()) {
		fmt.Println(i+1, step.Title)
	}
	// Output:
	// 1 The request
	// 2 Who may yield in queue "team-a"
	// 3 Who may yield in cohort "research"
	// 4 Search 1: the queue may borrow
	// 5 The answer
	// 6 What would change the answer
}

// Why does a workload not fit, and what would help?
func ExampleMessage() {
	e := explained()
	fmt.Println(explain.Message(e))
	for _, w := range e.Ways {
		fmt.Println(w.Kind, w.Outcome)
	}
	// Output:
	// Does not fit in queue team-a: 6 h100/gpu in cohort "research" more needed; 3 workloads are not of lower priority
	// Priority Preempt
	// Nominal Fits
}

func ExampleText() {
	fmt.Print(explain.Text(explained()))
	// Output:
	// a/new in queue "team-a", priority 5, at 2026-01-01 12:00:00 UTC
	//   asks for 6 h100/gpu
	//   short of 6 h100/gpu in cohort "research"
	// It does not fit, and time alone does not help.
	//
	// Who may yield
	//   queue "team-a" (withinClusterQueue LowerPriority)
	//     1 is not of lower priority: a/serve
	//   cohort "research" (reclaimWithinCohort LowerPriority, borrowWithinCohort
	//     Never)
	//     3 are not of lower priority: b/train-2, b/train-1, b/train-3
	//     1 is in the quota of queue "team-c": c/batch
	//
	// What was tried
	//   1. the queue may borrow
	//      not enough: all are put back
	//
	// What would change the answer
	//   Raise the priority to 51: it preempts 2 workloads
	//   Give queue "team-a" 6 h100/gpu more nominal quota: it fits
}

func ExamplePlacementText() {
	fmt.Print(explain.PlacementText(explainedPlacement()))
	// Output:
	// pod ns/new, priority 0
	// It has no place, and time alone does not help: no unit in reach may yield.
	//   short of 1 gpu on a node, in 1 domain
	//
	// Where victims were looked for
	//   n1: no unit may yield
	//
	// What would change the answer
	//   Give node n1 1 gpu more: it has a place
}

func ExamplePlacementMessage() {
	fmt.Println(explain.PlacementMessage(explainedPlacement()))
	// Output:
	// It has no place, and time alone does not help: no unit in reach may yield; 1 gpu more needed on a node
}

func ExamplePrinter() {
	p := explain.Printer{Width: 120, Amount: func(resource string, amount int64) string { return fmt.Sprintf("%d whole", amount) }}
	fmt.Println(p.Message(explained()))
	// Output:
	// Does not fit in queue team-a: 6 whole h100/gpu in cohort "research" more needed; 3 workloads are not of lower priority
}
