package rules

import (
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/selectors"
)

// NextChange returns the first instant after that of the search at which the rules may permit
// others: a time of a selector, a minimum runtime, a guard or a minimum trigger duration ends. ok is
// false if there is none.
func (t *Taker) NextChange(s *search.Search) (at int64, ok bool) {
	if !t.collected {
		t.collect(s)
	}
	at = math.MaxInt64
	if i, _ := slices.BinarySearch(t.instants, s.Now); i < len(t.instants) {
		if t.instants[i] == s.Now {
			i++
		}
		if i < len(t.instants) {
			at = t.instants[i]
		}
	}
	for i := range t.tiers {
		if since := t.since[i]; t.tiers[i].rules != nil && since != instant.Unset {
			t.tiers[i].rules.Waits(func(d time.Duration) {
				if ends := after(since, d); ends > s.Now {
					at = min(at, ends)
				}
			})
		}
	}
	return at, at < math.MaxInt64
}

// after returns the first instant that is strictly later than a time by a duration.
func after(at int64, d time.Duration) int64 {
	if at > math.MaxInt64-1-int64(d) {
		return math.MaxInt64
	}
	return at + int64(d) + 1
}

// collect lists the instants at which the verdict on some workload changes, of all tiers: another
// may be reached at another time.
func (t *Taker) collect(s *search.Search) {
	t.collected, t.instants = true, t.instants[:0]
	for i := range t.tiers {
		if t.ask(s, i); t.tiers[i].rules == nil {
			continue // later tiers may be reached when the trigger of this one does not hold
		}
		for _, d := range t.tiers[i].donors {
			if t.waits(s, i, &d) {
				t.collectFrom(s, t.tiers[i].rules, &d)
			}
		}
	}
	slices.Sort(t.instants)
	t.instants = slices.Compact(t.instants)
}

// collectFrom adds the instants of the workloads of a queue.
func (t *Taker) collectFrom(s *search.Search, by *selectors.Tier, d *donor) {
	of := s.DonorOfRules(d.node, d.common)
	for lane := cluster.Active; lane <= cluster.EvictedUnreserved; lane++ {
		var cursor cluster.LaneCursor
		for cursor.First(*s.Cluster.Running(d.node).Lane(lane)); ; cursor.Next() {
			w, ok := cursor.Item()
			if !ok {
				break
			}
			s.Steps++
			t.collectOf(s, by, w, &of)
		}
	}
}

// waits reports whether time changes what a tier says of workloads of a queue.
func (t *Taker) waits(s *search.Search, i int, d *donor) bool {
	return t.tiers[i].rules.Timed() || s.Request.Guard != nil || s.DonorOfRules(d.node, d.common).Minimum >= 0
}

// collectOf adds the instants of one workload and a tier that accepts it at some time, whatever constraints on
// quota say.
func (t *Taker) collectOf(s *search.Search, by *selectors.Tier, w *cluster.Workload, d *right.Donor) {
	if s.Request.Room == nil && !s.UsesNeeded(w.Loads) {
		return
	}
	until := s.ProtectedUntil(d, w)
	if t.fill(w); !by.AcceptsSometime(&t.one) {
		return
	}
	if until < math.MaxInt64 && until >= s.Request.Now {
		t.instants = append(t.instants, until+1)
	}
	by.Changes(&t.one, func(at time.Time) {
		if instant.Valid(at) && instant.Of(at) > s.Request.Now {
			t.instants = append(t.instants, instant.Of(at))
		}
	})
}
