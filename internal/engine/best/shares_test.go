package best_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/decide"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// The strategies permit victims of another queue once victims of the own one have made the preemptor's share smaller, in whatever order
// the set is found. (In order b-last is taken before a-low, and nobody else of b beside it.)
func TestBestUnderShares(t *testing.T) {
	var running []workload.Workload
	lost := map[string]int64{}
	runs := func(id string, priority, gpus, loses int64) {
		at := time.Unix(int64(1000+len(running)), 0)
		lost[id] = loses
		running = append(running, workload.Workload{ID: id, UID: id, Queue: id[:1], Priority: priority, Created: at, Queued: at, ReservedAt: at,
			PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: gpus}}}}})
	}
	runs("a-low", 0, 3, 1)
	runs("a-high", 9, 1, 1)
	runs("b-large", 0, 4, 8)
	runs("b-first", 0, 2, 7)
	runs("b-three", 0, 3, 5)
	runs("b-last", 0, 2, 6)
	var queues []queue.Queue
	for i, name := range []string{"a", "b", "c"} {
		queues = append(queues, queue.Queue{Name: name, Cohort: "all",
			Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any},
			Quotas:     []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: []int64{4, 2, 9}[i]}}})
	}
	all, err := cluster.New([]queue.Cohort{{Name: "all"}}, queues, running)
	if err != nil {
		t.Fatal(err)
	}
	node, _ := all.QueueNode("a")
	now := time.Unix(5000, 0).UnixNano()
	r := &right.Request{Queue: node, Priority: 5, Queued: now, Now: now, Columns: []int{all.Columns.Number(quota.FlavorResource{Flavor: "f", Resource: "gpu"})},
		Amounts: []int64{7}, Needs: []bool{false}, FindNeeds: true, Retry: right.Retry{Skip: true},
		Fair: right.Fairness{First: right.FinalShare, EntitlesNominal: true, Recheck: true}}
	for _, c := range []struct {
		about  string
		better right.Better
		want   string
	}{
		{"in order", right.Better{}, ""},
		{"the best", right.Better{Best: true, Steps: 1000}, "a-low b-large"},
	} {
		r.Better = c.better
		r.Better.Cost = func(w *cluster.Workload, _ int) int64 { return lost[w.Facts.ID] }
		var s decide.Searcher
		var victims []string
		for _, v := range s.Search(all, r, nil, 4).Victims {
			victims = append(victims, v.Workload.Facts.ID)
		}
		slices.Sort(victims)
		if got := strings.Join(victims, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.about, got, c.want)
		}
	}
}
