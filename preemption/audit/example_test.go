package audit_test

import (
	"fmt"
	"log"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/audit"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// A scheduler told two workloads to leave, where one was enough: the one that had just begun.
func ExampleJudge() {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	job := func(id string, priority, gpus int64, since time.Duration) workload.Workload {
		return workload.Workload{ID: id, Queue: "lab", Priority: priority, ReservedAt: now.Add(-since), PodSets: []workload.PodSet{
			{Name: "main", Count: gpus, Requests: []quota.Amount{{Flavor: "h100", Resource: "gpu", Amount: 1}}},
		}}
	}
	snapshot, err := preemption.NewSnapshot(preemption.State{
		Queues: []queue.Queue{{Name: "lab", Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority},
			Quotas: []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: 8}}}},
		Admitted: []workload.Workload{job("days-old", 0, 4, 72*time.Hour), job("new", 0, 4, time.Minute)},
	})
	if err != nil {
		log.Fatal(err)
	}
	urgent := job("urgent", 10, 4, 0)
	urgent.ReservedAt = time.Time{}
	for _, victims := range [][]string{{"new"}, {"days-old"}, {"days-old", "new"}} {
		f, err := audit.Judge(snapshot, preemption.Config{Cost: preemption.CostByAge{Resources: []string{"gpu"}}},
			audit.Eviction{Request: preemption.Request{Workload: urgent, Now: now}, Victims: victims})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(victims, f.Verdict, time.Duration(f.Avoidable)*time.Second, "of GPU time could have been kept")
	}
	// Output:
	// [new] Right 0s of GPU time could have been kept
	// [days-old] Right 287h56m0s of GPU time could have been kept
	// [days-old new] TooMany 288h0m0s of GPU time could have been kept
}
