package loops_test

import (
	"fmt"
	"log"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/loops"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Two queues that reclaim from any priority and preempt within themselves: a circle. Stable fair
// sharing has none.
func ExampleFind() {
	policy := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}
	team := func(name string) queue.Queue {
		return queue.Queue{Name: name, Cohort: "lab", Preemption: policy, Quotas: []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: 2}}}
	}
	snapshot, err := preemption.NewSnapshot(preemption.State{
		Cohorts: []queue.Cohort{{Name: "lab"}}, Queues: []queue.Queue{team("a"), team("b")},
	})
	if err != nil {
		log.Fatal(err)
	}
	waits := func(id, queueName string, priority, gpus int64) workload.Workload {
		return workload.Workload{ID: id, Queue: queueName, Priority: priority, PodSets: []workload.PodSet{
			{Name: "main", Count: gpus, Requests: []quota.Amount{{Flavor: "h100", Resource: "gpu", Amount: 1}}},
		}}
	}
	pending := []workload.Workload{
		waits("a-large", "a", 5, 3), waits("a-small", "a", 0, 2), waits("b-large", "b", 5, 3), waits("b-small", "b", 0, 2),
	}
	now := loops.Options{Now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	for _, sharing := range []preemption.Sharing{preemption.Fair, preemption.Stable} {
		loop, err := loops.Find(snapshot, pending, preemption.Config{Sharing: sharing}, now)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v: %d steps\n", sharing, len(loop.Steps))
		for _, step := range loop.Steps {
			fmt.Println(step.Workload, "preempts", step.Victims[0].Workload)
		}
	}
	// Output:
	// Fair: 4 steps
	// a-small preempts b-large
	// a-large preempts a-small
	// b-small preempts a-large
	// b-large preempts b-small
	// Stable: 0 steps
}
