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
func explained() preemption.Explanation {
	snapshot, err := preemption.NewSnapshot(state())
	if err != nil {
		log.Fatal(err)
	}
	e, err := new(preemption.Preemptor).Explain(snapshot, preemption.Request{Workload: job("a/new", "team-a", 5, 6, 0), Now: now})
	if err != nil {
		log.Fatal(err)
	}
	return e
}

// explainedPlacement is a pod of two GPUs that has no place on one node.
func explainedPlacement() placement.Explanation {
	snapshot, err := placement.NewSnapshot(placement.State{Nodes: []workload.Node{{Name: "n1", Capacity: workload.Resources{"gpu": 1}}}})
	if err != nil {
		log.Fatal(err)
	}
	e, err := new(placement.Preemptor).Explain(snapshot, placement.Request{Pods: []workload.Pod{{ID: "ns/new", Requests: workload.Resources{"gpu": 2}}}, Now: now})
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

func ExampleMermaid() {
	fmt.Print(explain.Mermaid(explained()))
	// Output:
	// flowchart TD
	//   question["a/new in queue team-a, priority 5<br>short of 6 h100/gpu in cohort &quot;research&quot;"]
	//   level0["queue &quot;team-a&quot;<br>withinClusterQueue LowerPriority<br>0 may yield<br>1 is not of lower priority"]
	//   question --> level0
	//   level1["cohort &quot;research&quot;<br>reclaimWithinCohort LowerPriority, borrowWithinCohort Never<br>0 may yield<br>3 are not of lower priority<br>1 is in the quota of queue &quot;team-c&quot;"]
	//   level0 --> level1
	//   attempt0["0 taken, 0 put back<br>not enough: all are put back"]
	//   level1 --> attempt0
	//   answer["It does not fit, and time alone does not help."]
	//   attempt0 --> answer
	//   way0["Raise the priority to 51: it preempts 2 workloads"]
	//   answer -.-> way0
	//   way1["Give queue &quot;team-a&quot; 6 h100/gpu more nominal quota: it fits"]
	//   answer -.-> way1
}

func ExampleRows() {
	for _, r := range explain.Rows(explained()) {
		fmt.Println(r)
	}
	// Output:
	// cede_explained_total{queue="team-a",outcome="Impossible"} 1
	// cede_explained_candidates{queue="team-a",level="queue \"team-a\""} 0
	// cede_explained_kept{queue="team-a",level="queue \"team-a\"",rule="WithinClusterQueue",set_by=""} 1
	// cede_explained_candidates{queue="team-a",level="cohort \"research\""} 0
	// cede_explained_kept{queue="team-a",level="cohort \"research\"",rule="ReclaimWithinCohort",set_by=""} 3
	// cede_explained_kept{queue="team-a",level="cohort \"research\"",rule="WithinNominal",set_by="queue \"team-c\""} 1
	// cede_explained_taken{queue="team-a"} 0
	// cede_explained_put_back{queue="team-a"} 0
	// cede_explained_ways{queue="team-a",kind="Priority"} 1
	// cede_explained_ways{queue="team-a",kind="Nominal"} 1
}

func ExamplePlacementText() {
	fmt.Print(explain.PlacementText(explainedPlacement()))
	// Output:
	// pod ns/new, priority 0
	// It has no place, and time alone does not help: nobody in reach may yield.
	//   short of 1 gpu on a node, in 1 domain
	//
	// Where victims were looked for
	//   n1: nobody may yield
	//
	// What would change the answer
	//   Give node n1 1 gpu more: it has a place
}

func ExamplePlacementMessage() {
	fmt.Println(explain.PlacementMessage(explainedPlacement()))
	// Output:
	// It has no place, and time alone does not help: nobody in reach may yield; 1 gpu more needed on a node
}

func ExamplePlacementMermaid() {
	fmt.Print(explain.PlacementMermaid(explainedPlacement()))
	// Output:
	// flowchart TD
	//   question["pod ns/new, priority 0<br>short of 1 gpu on a node"]
	//   domain0["n1<br>nobody may yield"]
	//   question --> domain0
	//   answer["It has no place, and time alone does not help: nobody in reach may yield."]
	//   domain0 --> answer
	//   way0["Give node n1 1 gpu more: it has a place"]
	//   answer -.-> way0
}

func ExamplePlacementRows() {
	for _, r := range explain.PlacementRows(explainedPlacement()) {
		fmt.Println(r)
	}
	// Output:
	// cede_explained_placement_total{outcome="Impossible"} 1
	// cede_explained_placement_candidates 0
	// cede_explained_placement_domains{result="WithVictims"} 0
	// cede_explained_placement_domains{result="NoVictims"} 1
	// cede_explained_placement_domains{result="NoRoom"} 0
	// cede_explained_placement_domains{result="Budgets"} 0
	// cede_explained_placement_domains{result="Skipped"} 0
	// cede_explained_placement_ways{kind="Capacity"} 1
}

func ExamplePrinter() {
	p := explain.Printer{Width: 120, Amount: func(resource string, amount int64) string { return fmt.Sprintf("%d whole", amount) }}
	fmt.Println(p.Message(explained()))
	// Output:
	// Does not fit in queue team-a: 6 whole h100/gpu in cohort "research" more needed; 3 workloads are not of lower priority
}
