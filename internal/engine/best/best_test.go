package best_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/decide"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// The best set of a full queue is the cheapest of all sets of lower priority that make room and have no more victims of any priority
// and above than the search in order. Exchanges alone find a set that loses no more than that search, and of which nobody can be spared.
func TestBestOfAllSets(t *testing.T) {
	better, proven := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var running []workload.Workload
		resources := []string{"cpu", "gpu"}
		uses, lost := map[string][2]int64{}, map[string]int64{}
		var full [2]int64
		for i := range rapid.IntRange(1, 9).Draw(t, "workloads") {
			id := fmt.Sprint("w", i)
			w := workload.Workload{ID: id, UID: id, Queue: "q", Priority: rapid.Int64Range(0, 6).Draw(t, "priority"), ReservedAt: time.Unix(int64(1000+i), 0),
				PodSets: []workload.PodSet{{Name: "main", Count: 1}}}
			var takes [2]int64
			for k, resource := range resources {
				takes[k] = rapid.Int64Range(0, 6).Draw(t, resource)
				full[k] += takes[k]
				w.PodSets[0].Requests = append(w.PodSets[0].Requests, quota.Amount{Flavor: "f", Resource: resource, Amount: takes[k]})
			}
			uses[id], lost[id] = takes, rapid.Int64Range(0, 9).Draw(t, "lost")
			running = append(running, w)
		}
		q := queue.Queue{Name: "q", Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}
		for k, resource := range resources {
			q.Quotas = append(q.Quotas, quota.Quota{Flavor: "f", Resource: resource, Nominal: full[k]})
		}
		all, err := cluster.New(nil, []queue.Queue{q}, running)
		if err != nil {
			t.Fatal(err)
		}
		asks := [2]int64{rapid.Int64Range(1, 12).Draw(t, "cpus"), rapid.Int64Range(0, 12).Draw(t, "gpus")}
		node, _ := all.QueueNode("q")
		r := &right.Request{Queue: node, Priority: 5, Queued: time.Unix(5000, 0).UnixNano(), Now: time.Unix(5000, 0).UnixNano(),
			Amounts: asks[:], Needs: []bool{false, false}, FindNeeds: true, Retry: right.Retry{Skip: true}}
		for _, resource := range resources {
			r.Columns = append(r.Columns, all.Columns.Number(quota.FlavorResource{Flavor: "f", Resource: resource}))
		}
		ofCost := rapid.Bool().Draw(t, "by cost")
		value := func(id string) int64 {
			if ofCost {
				return lost[id]
			}
			return 1
		}
		makesRoom := func(gone map[string]bool) bool {
			var freed [2]int64
			for id := range gone {
				freed[0], freed[1] = freed[0]+uses[id][0], freed[1]+uses[id][1]
			}
			return freed[0] >= asks[0] && freed[1] >= asks[1]
		}
		// noMoreThan: of each priority and above no more victims than the search in order has.
		noMoreThan := func(greedy, gone map[string]bool) bool {
			for priority := range int64(5) {
				more := 0
				for _, w := range running {
					if w.Priority >= priority && gone[w.ID] {
						more++
					}
					if w.Priority >= priority && greedy[w.ID] {
						more--
					}
				}
				if more > 0 {
					return false
				}
			}
			return true
		}
		losing := func(steps int, best bool) (sum int64, gone map[string]bool, found decide.Result) {
			r.Better = right.Better{Best: best, Steps: steps, Candidates: 8}
			if ofCost {
				r.Better.Cost = func(w *cluster.Workload, _ int) int64 { return lost[w.Facts.ID] }
			}
			var s decide.Searcher
			found, gone = s.Search(all, r, nil, 4), map[string]bool{}
			for _, v := range found.Victims {
				gone[v.Workload.Facts.ID], sum = true, sum+value(v.Workload.Facts.ID)
			}
			if len(gone) > 0 && !makesRoom(gone) {
				t.Fatalf("%d steps: %v make no room", steps, gone)
			}
			return sum, gone, found
		}
		inOrder, greedy, _ := losing(0, false)
		least, room := int64(math.MaxInt64), false
		for set := range 1 << len(running) {
			gone, sum, may := map[string]bool{}, int64(0), true
			for i, w := range running {
				if set>>i&1 == 1 {
					gone[w.ID], sum, may = true, sum+value(w.ID), may && w.Priority < 5
				}
			}
			if may && makesRoom(gone) {
				room = true
				if noMoreThan(greedy, gone) {
					least = min(least, sum)
				}
			}
		}
		if room != (len(greedy) > 0) {
			t.Fatalf("in order: %v, but there is room: %t", greedy, room)
		}
		exchanged, gone, _ := losing(-1, true)
		if exchanged > inOrder {
			t.Fatalf("exchanges lose %d, the search in order %d", exchanged, inOrder)
		}
		for id := range gone {
			delete(gone, id)
			if makesRoom(gone) {
				t.Fatalf("%s could be spared", id)
			}
			gone[id] = true
		}
		best, gone, found := losing(100_000, true)
		if len(gone) > 0 && (best != least || !found.Proof.Optimal || found.Proof.Bound != least) {
			t.Fatalf("the best loses %d, the least is %d: %+v", best, least, found.Proof)
		}
		if best < inOrder {
			better++
		}
		if found.Proof.Optimal {
			proven++
		}
	})
	if !testing.Short() && (better == 0 || proven == 0) {
		t.Errorf("%d are better, %d proven", better, proven)
	}
}
