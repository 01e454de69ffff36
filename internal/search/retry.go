package search

import (
	"math"
	"slices"

	"github.com/cedesched/cede/internal/cluster"
	"github.com/cedesched/cede/internal/instant"
)

// RetryAt returns the first instant after now at which the request, which is impossible
// now, succeeds with nothing but time changed; ok is false when there is none. It is
// exact although a greedy search need not be monotone in time: a decision can change
// only at an instant at which somebody's verdict or place in the order does, and those
// are tried in turn.
//
// Two tests keep the trials few. With everybody gone who may ever yield the request must
// fit, or there is no such instant. And with everybody gone who may yield at an instant it
// must fit then; who may yield only grows with time, so the first instant at which it
// does is found by halving, and no earlier one is tried. Trials end when they have looked
// at more than MaxRetrySteps workloads; then the answer is the first instant that was not
// tried, which is never too late.
func (s *Searcher) retryAt() (at int64, ok bool) {
	if s.hopelessForEver() {
		return 0, false
	}
	s.donors = s.donors[:0]
	s.eachDonor(func(d donor) { s.donors = append(s.donors, d) })
	s.instants = s.collectInstants(s.instants[:0])
	if len(s.instants) == 0 {
		return 0, false
	}
	now := s.request.Now
	defer func() { s.request.Now = now }()
	slices.Sort(s.instants)
	s.instants = slices.Compact(s.instants)
	first, _ := slices.BinarySearchFunc(s.instants, true, func(at int64, _ bool) int {
		if s.fitsWithoutAll(at) {
			return 0
		}
		return -1
	})
	spent := s.steps
	for _, at := range s.instants[first:] {
		if s.steps-spent > s.request.MaxRetrySteps {
			return at, true
		}
		s.request.Now = at
		if s.findVictims() {
			s.restore()
			return at, true
		}
	}
	return 0, false
}

// collectInstants lists the instants after now at which a verdict or an order changes:
// where time ends for an equal in the own queue; where a minimum runtime ends; where a
// reservation that lies ahead is passed, if there are workloads without, which stand at
// now.
func (s *Searcher) collectInstants(into []int64) []int64 {
	add := func(at int64) {
		if at > s.request.Now {
			into = append(into, at)
		}
	}
	if s.request.NewerByReservation && s.equalsMayYield() && s.request.Created < math.MaxInt64 {
		add(s.request.Created + 1) // workloads without reservation become newer
	}
	timed := s.request.MinAdmit > 0 && s.equalsMayYield()
	for _, d := range s.donors {
		running := s.cluster.Running(d.queue)
		unreserved := running.Lane(cluster.EvictedUnreserved).Len()+running.Lane(cluster.ActiveUnreserved).Len() > 0
		s.unreserved = s.unreserved || unreserved
	}
	for _, d := range s.donors {
		running := s.cluster.Running(d.queue)
		for lane := cluster.Active; lane <= cluster.EvictedUnreserved; lane++ {
			if !s.unreserved && !(timed && d.class == own) && d.minimum <= 0 && s.request.Guard == nil {
				continue
			}
			var st stream
			for st.cursor.First(*running.Lane(lane)); ; st.cursor.Next() {
				w, ok := st.cursor.Item()
				if !ok {
					break
				}
				s.steps++
				if s.request.Guard != nil {
					if until := s.request.Guard(w); until < math.MaxInt64 && until > math.MinInt64 {
						add(until + 1)
					}
				}
				if w.Reserved == instant.Unset {
					continue
				}
				if timed && d.class == own && w.Priority == s.request.Priority && w.Reserved < math.MaxInt64-s.request.MinAdmit {
					add(w.Reserved + s.request.MinAdmit + 1)
				}
				if until, protects := d.protects(w); protects && until < math.MaxInt64 {
					add(until + 1)
				}
				if s.unreserved {
					add(w.Reserved)
					add(w.Reserved + 1)
				}
			}
		}
	}
	return into
}

// fitsWithoutAll reports whether the request fits with everybody gone who may yield at
// the instant by some attempt, whatever is left to reclaim.
func (s *Searcher) fitsWithoutAll(at int64) bool {
	s.request.Now = at
	for _, d := range s.donors {
		running := s.cluster.Running(d.queue)
		p := s.permission(d.class, false)
		for lane := cluster.Active; lane <= cluster.EvictedUnreserved; lane++ {
			var st stream
			for st.cursor.First(*running.Lane(lane)); ; st.cursor.Next() {
				w, ok := st.cursor.Item()
				if !ok || !p.all && w.Priority > p.below {
					break
				}
				s.steps++
				switch {
				case !p.permits(w) && !(d.class == own && s.ownMayYield(w)), s.guarded(w):
				case s.usesNeeded(w.Loads) && !s.protected(d.guarantee, w):
					s.take(Victim{Workload: w, Set: -1, Count: 1, queue: d.queue})
				default:
					for i := range w.Surplus {
						s.take(Victim{Workload: w, Set: i, Count: w.Surplus[i].Count, queue: d.queue})
					}
				}
			}
		}
	}
	fits := s.fits(true)
	s.restore()
	return fits
}
