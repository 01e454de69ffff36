package search

import (
	"math"
	"slices"
	"sort"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
)

// late is a workload that may yield some day, looked at on its own, as rules of the caller
// and places on nodes need it.
type late struct {
	workload *cluster.Workload
	donor    int
	// The last instants at which the surplus is kept, and the rest.
	surplus, whole int64
}

// firstFitOneByOne is firstFit with a look at every workload.
func (s *Searcher) firstFitOneByOne(borrowing bool) (at int64, ok bool) {
	s.runs, s.late, s.instants = s.runs[:0], s.late[:0], s.instants[:0]
	for i := range s.donors {
		s.collectLate(i, borrowing)
	}
	now := s.request.Now
	s.instants = append(s.instants, now)
	for i := range s.late {
		for _, until := range [...]int64{s.late[i].surplus, s.late[i].whole} {
			if now <= until && until < math.MaxInt64 {
				s.instants = append(s.instants, until+1)
				s.addInstant(s.late[i].donor, until+1)
			}
		}
	}
	slices.Sort(s.instants)
	s.instants = slices.Compact(s.instants)
	first := sort.Search(len(s.instants), func(i int) bool { return s.fitsWithoutLate(s.instants[i], borrowing) })
	if first == len(s.instants) {
		return 0, false
	}
	return s.instants[first], true
}

// collectLate lists those of a donor whom an attempt permits.
func (s *Searcher) collectLate(donor int, borrowing bool) {
	d := &s.donors[donor]
	p := s.permission(d.class, borrowing)
	if p == nobody {
		return
	}
	running := s.cluster.Running(d.queue)
	for lane := cluster.Active; lane <= cluster.EvictedUnreserved; lane++ {
		var cursor cluster.LaneCursor
		for cursor.First(*running.Lane(lane)); ; cursor.Next() {
			w, ok := cursor.Item()
			if !ok || !p.all && w.Priority > p.below {
				break
			}
			s.steps++
			until := s.refusedUntil(d, p, w)
			if until == math.MaxInt64 || !s.usesNeeded(w.Loads) {
				continue
			}
			if s.request.Guard != nil {
				until = max(until, s.request.Guard(w))
			}
			whole := until
			if end, ok := d.protects(w); ok {
				whole = max(until, end)
			}
			s.late = append(s.late, late{w, donor, until, whole})
		}
	}
}

// refusedUntil is the last instant at which the policies keep a workload.
func (s *Searcher) refusedUntil(d *donor, p permission, w *cluster.Workload) int64 {
	switch {
	case p.permits(w):
		return math.MinInt64
	case d.class != own || w.Priority != s.request.Priority || !s.equalsMayYield():
		return math.MaxInt64
	case s.newer(w):
		return math.MinInt64
	case w.Reserved == instant.Unset && s.request.NewerByReservation:
		return s.request.Created
	}
	if until, ends := s.request.HeldUntil(w); ends {
		return until
	}
	return math.MaxInt64
}

// fitsWithoutLate reports whether the request fits with everybody gone who may yield at an
// instant.
func (s *Searcher) fitsWithoutLate(at int64, borrowing bool) bool {
	for i := range s.late {
		l := &s.late[i]
		if at > l.whole {
			s.take(Victim{Workload: l.workload, Set: -1, Count: 1, queue: s.donors[l.donor].queue})
		} else if at > l.surplus {
			for set := range l.workload.Surplus {
				s.take(Victim{Workload: l.workload, Set: set, Count: l.workload.Surplus[set].Count, queue: s.donors[l.donor].queue})
			}
		}
	}
	fits := s.fits(borrowing)
	s.restore()
	return fits
}
