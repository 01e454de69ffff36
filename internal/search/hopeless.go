package search

import (
	"math"

	"github.com/cedesched/cede/internal/cluster"
)

// bound is the scratch with every workload gone whose priority the policies permit,
// whatever else keeps it: the sums of the lanes say so without a look at any workload.
// It is kept as long as the policies of the attempts permit the same.
type bound struct {
	scratch
	permission permission // of the priority class; the others do not depend on the attempt
	started    bool
	complete   bool // false: enough are gone for the request to fit
	donors     int
}

// hopeless reports whether an attempt is proven to fail: the request does not fit in
// the bound.
func (s *Searcher) hopeless(borrowing bool) bool { return s.outOfReach(borrowing, borrowing) }

// hopelessForEver reports whether every attempt is proven to fail at any time: time
// changes who may yield among those of permitted priority only.
func (s *Searcher) hopelessForEver() bool {
	return s.overPotential() || s.hopeless(true) && (!s.mayPermitMore() || s.hopeless(false))
}

// outOfReach reports whether the request does not fit with everybody gone who is
// permitted in an attempt.
func (s *Searcher) outOfReach(permitted, borrowing bool) bool {
	b := &s.bound
	if p := s.permission(priority, permitted); !b.started || b.permission != p {
		b.started, b.permission, b.complete = true, p, false
	} else if s.fitsIn(&b.scratch, borrowing) {
		return false
	}
	if !b.complete {
		b.complete = s.removeAllPermitted(permitted, borrowing)
	}
	return !s.fitsIn(&b.scratch, borrowing)
}

// boundShortages lists what is short in the bound. It returns false when that is
// nothing.
func (s *Searcher) boundShortages() bool {
	if !s.hopeless(true) {
		return false
	}
	s.shortages = s.listShortages(&s.bound.scratch, s.shortages[:0])
	return true
}

// removeAllPermitted fills the bound. It returns false when it has stopped early, as
// the request fits already.
func (s *Searcher) removeAllPermitted(permitted, borrowing bool) bool {
	s.bound.reset(s.cluster, s.request.Columns)
	s.bound.donors = 0
	if d, ok := s.ownDonor(); ok {
		p := s.permission(own, permitted)
		if s.equalsMayYield() && p.below < math.MaxInt64 {
			p.below++
		}
		for lane := cluster.Active; lane <= cluster.EvictedUnreserved; lane++ {
			s.removeLane(d.queue, lane, p)
		}
	}
	for _, l := range s.levels {
		p := s.permission(l.class, permitted)
		if p == nobody {
			continue
		}
		for lane := cluster.Active; lane <= cluster.EvictedUnreserved; lane++ {
			if !s.removeUnder(l.cohort, l.except, lane, p, borrowing) {
				return false
			}
		}
	}
	return true
}

// removeUnder does so for a lane of the queues under a cohort that can be reached.
func (s *Searcher) removeUnder(cohort, except int, lane cluster.Lane, p permission, borrowing bool) bool {
	var cursor cluster.HeadCursor
	for cluster.SeekLane(&cursor, s.cluster.Heads(cohort), lane); ; cursor.Next() {
		h, ok := cursor.Item()
		if !ok || h.Lane != lane || !p.permits(h.Workload) {
			return true
		}
		node := int(h.Node)
		switch {
		case node == except, s.withinNominalAtFirst(node) && (s.cluster.IsQueue(node) || !s.request.Fair.enabled()):
		case s.cluster.IsQueue(node):
			s.removeLane(node, lane, p)
			s.bound.donors++
			if n := s.bound.donors; n&(n-1) == 0 && s.fitsIn(&s.bound.scratch, borrowing) { // looked at ever more rarely
				return false
			}
		default:
			if !s.removeUnder(node, -1, lane, p, borrowing) {
				return false
			}
		}
	}
}

func (s *Searcher) removeLane(q int, lane cluster.Lane, p permission) {
	set := s.cluster.Running(q).Lane(lane)
	if set.Len() == 0 {
		return
	}
	s.sum = s.sum[:0]
	set.Sum(&s.sum, func(w *cluster.Workload) bool { return p.permits(w) })
	s.bound.change(q, s.sum, -1)
}

// withinNominalAtFirst is withinNominal with nobody gone.
func (s *Searcher) withinNominalAtFirst(node int) bool {
	for slot, needs := range s.request.Needs {
		if !needs {
			continue
		}
		column := s.request.Columns[slot]
		if c := s.scratch.tree.Cell(node, column); !c.WithinNominal(s.scratch.usage.At(node, column)) {
			return false
		}
	}
	return true
}
