package preemption_test

import (
	"fmt"
	"log"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
)

// Why does a workload not fit, and which changes would make it fit?
func Example_explanation() {
	state := preemption.State{Queues: shared(0).Queues}
	state.Admitted = append(state.Admitted, job("low", "a", 1, 2, started(9)), job("high", "a", 20, 2, started(9)))
	snapshot, err := preemption.NewSnapshot(state)
	if err != nil {
		log.Fatal(err)
	}
	e, err := explain.Explain(new(preemption.Preemptor), snapshot, pending("a", 10, 3))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Decision.Outcome)
	for _, step := range e.Steps {
		if step.Section == "Who may yield" {
			fmt.Println(step.Title, step.Lines)
		}
	}
	for _, way := range e.Ways {
		fmt.Println(way.Kind, way.Priority, way.Replicas, way.Nominal, way.Outcome)
	}
	// Output:
	// Impossible
	// queue "a" (withinClusterQueue LowerOrNewerEqualPriority) [1 may yield: low 1 is neither of lower priority nor newer of equal priority: high]
	// Priority 21 0 [] Preempt
	// Replicas 0 2 [] Preempt
	// Nominal 0 0 [{h100 gpu 1}] Preempt
}

// A way is applied to the snapshot and the request, and the question asked again.
func Example_way() {
	snapshot, err := preemption.NewSnapshot(shared(0, job("high", "a", 20, 4, started(9))))
	if err != nil {
		log.Fatal(err)
	}
	preemptor := new(preemption.Preemptor)
	e, err := explain.Explain(preemptor, snapshot, pending("a", 10, 3))
	if err != nil {
		log.Fatal(err)
	}
	changed, request, err := e.Ways[0].Apply(snapshot, pending("a", 10, 3))
	if err != nil {
		log.Fatal(err)
	}
	d, err := preemptor.Decide(changed, request)
	fmt.Println(e.Ways[0].Kind, request.Workload.Priority, d.Outcome, err)
	// Output:
	// Priority 21 Preempt <nil>
}
