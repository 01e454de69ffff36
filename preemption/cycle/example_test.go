package cycle_test

import (
	"fmt"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
)

// Two heads, one cycle, one With.
func Example() {
	policy := queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}
	state := preemption.State{Cohorts: []queue.Cohort{{Name: "root"}}, Queues: []queue.Queue{
		{Name: "a", Cohort: "root", Quotas: gpus(4), Preemption: policy}, {Name: "b", Cohort: "root", Quotas: gpus(4), Preemption: policy},
	}}
	state.Admitted = append(state.Admitted, job("borrower", "b", 0, 3, 60), job("other", "b", 5, 3, 60))
	snapshot, _ := preemption.NewSnapshot(state)
	pending, _ := queue.NewPending(state.Cohorts, state.Queues)
	pending, _ = pending.Add(job("reclaims", "a", 0, 3, 10))
	pending, _ = pending.Add(job("fits", "b", 0, 1, 5))

	admission, _ := cycle.New(cycle.Config{})
	result, err := admission.Run(snapshot, pending.Heads(), now)
	if err != nil {
		panic(err)
	}
	for _, v := range result.Heads {
		fmt.Println(v.Head.Workload.ID, v.Outcome, len(v.Decision.Victims), "victims")
	}
	snapshot, _ = snapshot.With(result.Edits()...)
	fmt.Println("told to stop:", snapshot.Terminating())
	// Output:
	// reclaims Preempt 1 victims
	// fits Admit 0 victims
	// told to stop: [borrower]
}
