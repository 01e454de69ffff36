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

// One elastic workload borrows all that a queue asks back half of: the better searches move its replicas, to look for
// an order, a few times each, however many there are. Who counts each replica against each other one takes seconds.
func TestMovesOfReplicas(t *testing.T) {
	const mostMoves = 3 // of a replica
	of := func(n int64) []quota.Quota { return []quota.Quota{{Flavor: "f", Resource: "r", Nominal: n}} }
	for _, replicas := range []int64{250, 2000} {
		c, err := cluster.New([]queue.Cohort{{Name: "c"}}, []queue.Queue{
			{Name: "asks", Cohort: "c", Quotas: of(replicas), Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}},
			{Name: "borrows", Cohort: "c", Quotas: of(0)},
		}, []workload.Workload{{ID: "w", Queue: "borrows", ReservedAt: time.Unix(1, 0), PodSets: []workload.PodSet{{
			Name: "main", Count: replicas, MinCount: workload.AtLeast(0), Requests: []quota.Amount{{Flavor: "f", Resource: "r", Amount: 1}},
		}}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, fair := range []right.Fairness{{}, {First: right.FinalShare, Second: right.InitialShare, EntitlesNominal: true, Recheck: true}} {
			for _, effort := range []right.Effort{right.Exchange, right.Exact} {
				var s Searcher
				r := ask(c, "asks", 1, replicas/2)
				r.Fair, r.Better = fair, right.Better{Effort: effort, MaxCandidates: 8, MaxNodes: 200_000}
				r.Better.Cost = func(*cluster.Workload, int) int64 { return 1 }
				if found := s.Search(c, r, nil, 16); len(found.Victims) == 0 || s.exact.Moves() > int(mostMoves*replicas) {
					t.Errorf("%d replicas, effort %d, fair %t: %d victims, %d moves", replicas, effort, fair.Enabled(), len(found.Victims), s.exact.Moves())
				}
			}
		}
	}
}
