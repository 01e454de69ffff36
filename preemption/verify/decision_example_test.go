package verify_test

import (
	"fmt"
	"log"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Another scheduler preempts two workloads where one is enough.
func ExampleDecision() {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	gpus := func(n int64) []workload.PodSet {
		return []workload.PodSet{{Name: "main", Count: n, Requests: []quota.Amount{{Flavor: "h100", Resource: "gpu", Amount: 1}}}}
	}
	state := preemption.State{
		Queues: []queue.Queue{{
			Name: "team", Quotas: []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: 8}},
			Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority},
		}},
		Admitted: []workload.Workload{
			{ID: "train", Queue: "team", PodSets: gpus(6)},
			{ID: "tune", Queue: "team", PodSets: gpus(2)},
		},
	}
	request := preemption.Request{Workload: workload.Workload{ID: "serve", Queue: "team", Priority: 1, PodSets: gpus(2)}, Now: now}
	snapshot, err := preemption.NewSnapshot(state)
	if err != nil {
		log.Fatal(err)
	}
	ours, err := new(preemption.Preemptor).Decide(snapshot, request)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(verify.Decision(state, request, preemption.Config{}, ours))
	theirs := preemption.Decision{Outcome: preemption.Preempt, Victims: []preemption.Victim{
		{Workload: "train", Queue: "team", Reason: preemption.InClusterQueue},
		{Workload: "tune", Queue: "team", Reason: preemption.InClusterQueue},
	}}
	fmt.Println(verify.Decision(state, request, preemption.Config{}, theirs))
	// Output:
	// <nil>
	// decision.victims[0]: "train", or a replica of it, can stay; decision.victims[1]: "tune", or a replica of it, can stay
}
