package rules

import (
	"math"
	"slices"
	"sort"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/internal/engine/usage"
)

// waiting is what workloads of a queue free that some tier may accept from an instant on.
type waiting struct {
	from  int64
	node  int
	loads []quotatree.Load
}

// FirstFit returns the first instant, from that of the search on, at which the quota suffices without
// all workloads that some tier may accept then or may have accepted before, whatever constraints on quota
// say; ok is false if there is none. At no earlier instant the request fits by rules alone, whatever
// triggers, limits and the room say. No victim may be taken. It collects the instants at which verdicts
// change.
func (t *Taker) FirstFit(s *search.Search) (at int64, ok bool) {
	if t.Hopeless(s) != usage.Victims {
		return 0, false
	}
	t.waiting, t.instants, t.collected = t.waiting[:0], t.instants[:0], true
	var donors []donor
	for i := range t.tiers {
		if t.ask(s, i) {
			donors = append(donors, t.tiers[i].all(s)...)
		}
	}
	for _, d := range united(donors) {
		t.waitIn(s, &d)
	}
	slices.Sort(t.instants)
	t.instants = slices.Compact(t.instants)
	slices.SortStableFunc(t.waiting, func(a, b waiting) int {
		if a.from < b.from {
			return -1
		} else if a.from > b.from {
			return 1
		}
		return 0
	})
	n := sort.Search(len(t.waiting)+1, func(n int) bool {
		for i := range t.waiting[:n] {
			s.View.Move(usage.Victims, t.waiting[i].node, t.waiting[i].loads, -1)
		}
		defer s.View.Fill(usage.Victims)
		return s.QuotaFits()
	})
	clear(t.waiting[len(t.waiting):cap(t.waiting)])
	switch {
	case n > len(t.waiting):
		return 0, false
	case n == 0:
		return s.Now, true
	}
	return t.waiting[n-1].from, true
}

// waitIn adds the workloads of a queue; together where time changes nothing.
func (t *Taker) waitIn(s *search.Search, d *donor) {
	timed := false
	for i := range t.tiers {
		timed = timed || t.tiers[i].rules != nil && t.waits(s, i, d)
	}
	for lane := cluster.Active; lane <= cluster.EvictedUnreserved; lane++ {
		set := s.Cluster.Running(d.node).Lane(lane)
		if !timed {
			var sum []quotatree.Load
			set.Sum(&sum, func(w *cluster.Workload) bool { return w.Priority <= d.Most })
			t.waiting = append(t.waiting, waiting{s.Now, d.node, sum})
			continue
		}
		var cursor cluster.LaneCursor
		for cursor.First(*set); ; cursor.Next() {
			w, ok := cursor.Item()
			if !ok || w.Priority > d.Most {
				break
			}
			s.Steps++
			if from, ever := t.acceptedFrom(s, w, d); ever {
				t.waiting = append(t.waiting, waiting{from, d.node, w.Loads})
			}
		}
	}
}

// acceptedFrom returns the first instant, from that of the search on, at which some tier accepts a
// workload, if its trigger was observed for long enough, whatever constraints on quota say.
func (t *Taker) acceptedFrom(s *search.Search, w *cluster.Workload, d *donor) (first int64, ever bool) {
	of := s.DonorOfRules(d.node, d.common)
	lasts := s.ProtectedUntil(&of, w)
	if lasts == math.MaxInt64 {
		return 0, false
	}
	first = math.MaxInt64
	for i := range t.tiers {
		by, n := t.tiers[i].rules, len(t.instants)
		if by == nil || !t.collectOf(s, by, w, &of) {
			continue
		}
		moments := append([]int64{max(s.Now, lasts+1)}, t.instants[n:]...)
		slices.Sort(moments)
		for _, at := range moments {
			if at > lasts && by.Accepts(&t.one, selectors.Moment{Now: instant.Time(at), Since: longAgo, Quota: selectors.AllQuota()}) {
				first, ever = min(first, at), true
				break
			}
		}
	}
	return first, ever
}

// longAgo is the earliest valid time.
var longAgo = instant.Time(instant.Unset + 1)
