package decide

import (
	"testing"
	"time"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// The best search is bounded by its steps, and so are exchanges: on states of elastic workloads, of which each
// replica is a candidate, its steps grow as the replicas do. Who compares each replica with each other one takes seconds.
func TestStepsOfReplicas(t *testing.T) {
	of := func(n int64) []quota.Quota { return []quota.Quota{{Flavor: "f", Resource: "r", Nominal: n}} }
	takes := func(id string, priority, replicas, each, least int64) workload.Workload {
		return workload.Workload{ID: id, Queue: "borrows", Priority: priority, ReservedAt: time.Unix(1, 0), PodSets: []workload.PodSet{{
			Name: "main", Count: replicas, MinCount: workload.AtLeast(least), Requests: []quota.Amount{{Flavor: "f", Resource: "r", Amount: each}},
		}}}
	}
	steps := func(about string, replicas, asks int64, running ...workload.Workload) {
		all := int64(0)
		for _, w := range running {
			all += w.PodSets[0].Count * w.PodSets[0].Requests[0].Amount
		}
		c, err := cluster.New([]queue.Cohort{{Name: "c"}}, []queue.Queue{
			{Name: "asks", Cohort: "c", Quotas: of(all), Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}},
			{Name: "borrows", Cohort: "c", Quotas: of(0)},
		}, running)
		if err != nil {
			t.Fatal(err)
		}
		for _, fair := range []right.Fairness{{}, {First: right.FinalShare, Second: right.InitialShare, EntitlesNominal: true, Recheck: true}} {
			for _, most := range []int{-1, 10, 200_000} {
				var s Searcher
				r := ask(c, "asks", 2, asks)
				r.Fair, r.Better = fair, right.Better{Best: true, Candidates: 8, Steps: most}
				r.Better.Cost = func(*cluster.Workload, int) int64 { return 1 }
				found := s.Search(c, r, nil, 16)
				if took := s.best.Steps(); len(found.Victims) == 0 || took > int(20+replicas/16) {
					t.Errorf("%s, %d replicas, at most %d steps, fair %t: %d victims, %d steps", about, replicas, most, fair.Enabled(), len(found.Victims), took)
				}
			}
		}
	}
	for _, n := range []int64{250, 1000, 2000} {
		steps("half is asked back", n, n/2, takes("w", 0, n, 1, 0))
		steps("all are spared", n, 10*n, takes("w", 0, n, 1, 0), takes("large", 1, 1, 10*n, 1), takes("larger", 1, 1, 10*n, 1))
	}
}
