package reclaim

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/entitled"
	"github.com/cedesched/cede/internal/persist/vector"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// drawTurns draws a tree in which much is alike, of up to four levels and twelve queues. Some workloads are leaving or
// have surplus, some do not use what is short.
func drawTurns(t *rapid.T) (*cluster.Cluster, *right.Request) {
	small := func(label string, most int) int64 { return int64(rapid.IntRange(0, most).Draw(t, label)) }
	resources := []string{"gpu", "cpu"}
	amounts := func(most int) (list []quota.Amount) {
		for i, r := range resources {
			if i == 0 && small("no gpu", 9) > 0 || i == 1 && small("cpu", 2) == 0 {
				list = append(list, quota.Amount{Flavor: "f", Resource: r, Amount: 1 + small("amount", most)})
			}
		}
		return list
	}
	cohorts, parents := []queue.Cohort{{Name: "c00"}}, []string{"c00"}
	for i := range int(small("cohorts", 5)) {
		name := fmt.Sprintf("c%02d", i+1)
		cohorts = append(cohorts, queue.Cohort{Name: name, Parent: parents[small("above", len(parents)-1)]})
		parents = append(parents, name)
	}
	var quotas []quota.Quota
	for _, r := range resources {
		quotas = append(quotas, quota.Quota{Flavor: "f", Resource: r})
	}
	policy := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}
	var queues []queue.Queue
	var running []workload.Workload
	start := time.Unix(1_000_000, 0).UTC()
	for i := range 2 + int(small("queues", 10)) {
		q := queue.Queue{Name: fmt.Sprintf("q%02d", i), Cohort: parents[small("cohort", len(parents)-1)], Quotas: quotas, Preemption: policy, Inactive: small("inactive", 19) == 0}
		queues = append(queues, q)
		for range small("workloads", 4) {
			w := workload.Workload{ID: fmt.Sprintf("w%03d", len(running)), Queue: q.Name, Priority: small("priority", 1), Evicted: small("leaves", 9) == 0,
				Created: start.Add(time.Duration(small("created", 2)) * time.Minute), ReservedAt: start, PodSets: []workload.PodSet{{Name: "a", Count: 1 + small("count", 2), Requests: amounts(2)}}}
			if small("elastic", 2) == 0 {
				w.PodSets = append(w.PodSets, workload.PodSet{Name: "b", Count: 1 + small("count", 2), Requests: amounts(1), MinCount: workload.AtLeast(small("least", 1))})
			}
			running = append(running, w)
		}
	}
	c, err := cluster.New(cohorts, queues, running)
	if err != nil {
		t.Fatal(err)
	}
	r := &right.Request{Queue: len(cohorts), FindNeeds: true, Entitled: drawEntitled(t, c, resources, small), Now: start.Add(time.Hour).UnixNano()}
	for _, name := range resources {
		r.Columns = append(r.Columns, c.Columns.OfResource(name)...)
		r.Amounts = append(r.Amounts, small("asks", 2))
		r.Needs = append(r.Needs, len(r.Needs) == 0 || small("needs", 1) == 0)
	}
	return c, r
}

func drawEntitled(t *rapid.T, c *cluster.Cluster, resources []string, small func(string, int) int64) *right.Entitled {
	e := &right.Entitled{Queues: &entitled.Queues{Resources: len(resources)}, Root: c.Tree.Root(len(c.Cohorts)), Orders: make([]atomic.Pointer[right.Order], c.Tree.Len())}
	for _, r := range resources {
		e.Columns, e.Total = append(e.Columns, c.Columns.OfResource(r)), append(e.Total, 40)
	}
	nodes := make([]*entitled.Node, c.Tree.Len())
	alike := small("alike", 2) > 0 // so that what is next decides
	for i := range nodes {
		e.Parent = append(e.Parent, c.Tree.Parent(i))
		nodes[i] = &entitled.Node{Created: small("age", 1)}
		if alike {
			nodes[i].Amounts = slices.Repeat([]entitled.Amount{{Allocatable: 4}}, len(resources))
			continue
		}
		nodes[i].Priority = small("queue priority", 9) / 9
		for range resources {
			of := entitled.Amount{Share: small("share", 5), Allocatable: small("allocatable", 5)}
			if of.Quota = small("quota", 3); small("unlimited", 5) == 0 {
				of.Quota, of.Allocatable = quota.Unlimited, quota.Unlimited
			}
			nodes[i].Amounts = append(nodes[i].Amounts, of)
		}
	}
	e.Nodes = vector.Of(nodes)
	return e
}

// openAll opens all places at once.
func (t *Taker) openAll() {
	for i := 0; i < len(t.places); i++ {
		if t.places[i].stage != open {
			t.open(int32(i))
		}
	}
	for i := len(t.places) - 1; i >= 0; i-- {
		p := &t.places[i]
		p.heap = slices.DeleteFunc(p.heap, func(at int32) bool { return !t.places[at].line.more && len(t.places[at].heap) == 0 })
		heap.Init(p.heap, t.earlier)
		t.stand(p)
	}
}

// TestTurnsAreThoseOfAllQueues: queues are looked at as their turn comes near, and the turns are those of a search that looks at all
// queues first, whatever is taken or passed over.
func TestTurnsAreThoseOfAllQueues(t *testing.T) {
	unopened, turns := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c, r := drawTurns(t)
		takes := rapid.SliceOfN(rapid.IntRange(0, 3), 40, 40).Draw(t, "takes")
		drain := func(all bool) (list []string) {
			var s search.Search
			var taker Taker
			s.Begin(c, r)
			s.CollectLevels()
			taker.begin(&s, source.Mode{Borrowing: true})
			if taker.start(); all {
				taker.openAll()
			}
			unopened += len(slices.DeleteFunc(slices.Clone(taker.places), func(p place) bool { return p.stage == open }))
			for p := taker.turn(); p != nil; p = taker.turn() {
				v, n := p.line.head, int64(1)
				take := takes[len(list)%len(takes)]
				if take == 0 {
					n = v.Count
				}
				if take > 1 {
					taker.move(p, n)
				}
				list = append(list, fmt.Sprintf("%s/%d of %d: %d, %d", v.Workload.Facts.ID, v.Set, v.Count, n, take))
				taker.pass(p, n)
			}
			return list
		}
		lazy := drain(false)
		eager := drain(true)
		if diff := cmp.Diff(eager, lazy); diff != "" {
			t.Fatalf("- all first, + as the turn comes near:\n%s", diff)
		}
		turns += len(lazy)
	})
	if turns == 0 || unopened == 0 {
		t.Errorf("%d turns, before the first of which %d queues were not looked at", turns, unopened)
	}
}
