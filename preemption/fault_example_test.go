package preemption_test

import (
	"errors"
	"fmt"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
)

// A caller that wants the faults one by one unwraps the list.
func ExampleFaults() {
	err := queue.Validate(nil, []queue.Queue{{Name: ""}, {Name: "lab", Cohort: "lab", Preemption: queue.PreemptionPolicy{WithinClusterQueue: 9}}})
	var list preemption.Faults
	fmt.Println(errors.As(err, &list))
	for _, f := range list {
		fmt.Println(f.Path)
	}
	// Output:
	// true
	// queues[0].name
	// queues[1].cohort
	// queues[1].preemption.withinClusterQueue
}
