package search

import (
	"math"

	"github.com/cedesched/cede/internal/cluster"
)

// hopeless reports whether an attempt is proven to fail: the request does not fit even
// with every workload gone whose priority the policies permit. The sums of the lanes
// say so without a look at any workload. It gives up, without proof, when there
// are more donors than the bound.
func (s *Searcher) hopeless(borrowing bool, most int) bool {
	return s.removeAllPermitted(borrowing, most) && !s.fitsIn(&s.bound, borrowing)
}

// boundShortages lists what is short with every workload gone whose priority the
// policies permit while the request may borrow. It returns false when that is nothing.
func (s *Searcher) boundShortages() bool {
	s.removeAllPermitted(true, math.MaxInt)
	s.shortages = s.listShortages(&s.bound, s.shortages[:0])
	return len(s.shortages) > 0
}

// removeAllPermitted takes every workload whose priority the policies permit out of the
// bound, a scratch of its own. It returns false when there are more donors than most.
func (s *Searcher) removeAllPermitted(borrowing bool, most int) bool {
	s.bound.reset(s.cluster, s.request.Columns)
	if d, ok := s.ownDonor(); ok {
		p := s.permission(own, borrowing)
		if s.equalsMayYield() && p.below < math.MaxInt64 {
			p.below++
		}
		for lane := cluster.Active; lane <= cluster.EvictedUnreserved; lane++ {
			s.removeLane(d.queue, lane, p)
		}
	}
	for _, l := range s.levels {
		p := s.permission(l.class, borrowing)
		if p == nobody {
			continue
		}
		for lane := cluster.Active; lane <= cluster.EvictedUnreserved; lane++ {
			if most = s.removeUnder(l.cohort, l.except, lane, p, most); most < 0 {
				return false
			}
		}
	}
	return true
}

// removeUnder does so for a lane of the queues under a cohort that can be reached. It
// returns what is left of the bound of donors.
func (s *Searcher) removeUnder(cohort, except int, lane cluster.Lane, p permission, most int) int {
	var cursor cluster.HeadCursor
	for cluster.SeekLane(&cursor, s.cluster.Heads(cohort), lane); most >= 0; cursor.Next() {
		h, ok := cursor.Item()
		if !ok || h.Lane != lane || !p.permits(h.Workload) {
			break
		}
		node := int(h.Node)
		switch {
		case node == except || s.withinNominalAtFirst(node):
		case s.cluster.IsQueue(node):
			if most--; most >= 0 {
				s.removeLane(node, lane, p)
			}
		default:
			most = s.removeUnder(node, -1, lane, p, most)
		}
	}
	return most
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
