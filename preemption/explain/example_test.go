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

// An explanation in steps, for a page, and what would help.
func ExampleExplain() {
	e := explained()
	for i, step := range e.Steps {
		fmt.Printf("%d %s/%s\n", i+1, step.Section, step.Title)
	}
	for _, w := range e.Ways {
		fmt.Println(w.Kind, w.Outcome)
	}
	// Output:
	// 1 /The request
	// 2 Who may yield/queue "team-a" (withinClusterQueue LowerPriority)
	// 3 Who may yield/cohort "research" (reclaimWithinCohort LowerPriority, borrowWithinCohort Never)
	// 4 What was tried/1. the queue may borrow
	// 5 /The answer
	// 6 What would change the answer/
	// Priority Preempt
	// Nominal Fits
}

func ExampleText() {
	fmt.Print(explain.Text(explained().Steps))
	// Output:
	// a/new in queue "team-a", priority 5, at 2026-01-01 12:00:00 UTC
	//   asks for 6 h100/gpu
	//   short of 6 h100/gpu in cohort "research"
	// It does not fit until something changes.
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

func ExampleExplainPlacement() {
	fmt.Print(explain.Text(explainedPlacement().Steps))
	// Output:
	// pod ns/new, priority 0
	// It has no place until something changes: no unit in reach may yield.
	//   short of 1 gpu on a node, in 1 domain
	//
	// Where victims were looked for
	//   n1: no unit may yield
	//
	// What would change the answer
	//   Give node n1 1 gpu more: it has a place
}

func ExamplePrinter() {
	e := explainedPlacement()
	p := explain.Printer{Amount: func(resource string, amount int64) string { return fmt.Sprintf("%d whole", amount) }}
	fmt.Println(p.PlacementMessage(&e.Decision, 1))
	// Output:
	// It has no place until something changes: no unit in reach may yield; 1 whole gpu more needed on a node
}
