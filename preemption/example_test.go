package preemption_test

import (
	"fmt"
	"log"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Team A reclaims the quota that team B has borrowed.
func Example() {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	gpus := func(n int64) []workload.PodSet {
		return []workload.PodSet{{Name: "main", Count: n, Requests: []quota.Amount{{Flavor: "h100", Resource: "gpu", Amount: 1}}}}
	}
	snapshot, err := preemption.NewSnapshot(preemption.State{
		Cohorts: []queue.Cohort{{Name: "research"}},
		Queues: []queue.Queue{
			{Name: "team-a", Cohort: "research", Quotas: []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: 8}},
				Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}},
			{Name: "team-b", Cohort: "research"},
		},
		Admitted: []workload.Workload{
			{ID: "b/train", Queue: "team-b", ReservedAt: now.Add(-time.Hour), PodSets: gpus(6)},
			{ID: "b/tune", Queue: "team-b", ReservedAt: now.Add(-time.Minute), PodSets: gpus(2)},
		},
	})
	if err != nil {
		log.Fatal(err) // every fault at once, each with its path
	}
	request := preemption.Request{Workload: workload.Workload{ID: "a/serve", Queue: "team-a", PodSets: gpus(2)}, Now: now}
	decision, err := new(preemption.Preemptor).Decide(snapshot, request)
	fmt.Println(decision.Outcome, err)
	for _, v := range decision.Victims {
		fmt.Println(v.Workload, v.Reason, "through", v.Cohort)
	}
	// Output:
	// Preempt <nil>
	// b/tune InCohortReclamation through research
}
