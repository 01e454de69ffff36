package explain_test

import (
	"fmt"
	"log"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
)

// Why does a workload not fit, and what would help?
func ExampleMessage() {
	snapshot, err := preemption.NewSnapshot(state())
	if err != nil {
		log.Fatal(err)
	}
	e, err := new(preemption.Preemptor).Explain(snapshot, preemption.Request{Workload: job("a/new", "team-a", 5, 6, 0), Now: now})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(explain.Message(e))
	for _, w := range e.Ways {
		fmt.Println(w.Kind, w.Outcome)
	}
	// Output:
	// Does not fit in queue team-a: 6 h100/gpu in cohort "research" more needed; 3 workloads are kept by reclaimWithinCohort
	// Priority Preempt
	// Nominal Fits
}
