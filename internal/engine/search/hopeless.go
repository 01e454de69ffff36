package search

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/queue"
)

// A request is hopeless when it does not fit with everybody gone whose priority the
// policies permit, whatever else keeps them. Sums say so without a look at any workload.
// There are two such bounds, each a view of the scratch: that of all queues in reach, those
// which borrow anything as do all cohorts up to the common one, has a sum by priority for
// each level; that of the queues which borrow what needs preemption is closer, but has to
// be added up queue by queue.

// bound says what a view of the scratch is of. It is good as long as the policies of the
// attempts permit the same.
type bound struct {
	permission permission // of the priority class; the others do not depend on the attempt
	started    bool
	complete   bool // false: enough are gone for the request to fit
	tooLittle  bool // even for a request that may borrow
	donors     int
}

// hopeless reports whether an attempt is proven to fail.
func (s *Searcher) hopeless(borrowing bool) bool {
	return s.outOf(usage.InReach, borrowing) || s.outOf(usage.InNeed, borrowing)
}

// hopelessForEver reports whether every attempt is proven to fail at any time: time
// changes who may yield among those of permitted priority only.
func (s *Searcher) hopelessForEver() bool {
	return s.overPotential() || s.hopeless(true) && (!s.mayPermitMore() || s.hopeless(false))
}

// outOf reports whether the request does not fit in a bound of those who are permitted in
// an attempt.
func (s *Searcher) outOf(v usage.Gone, borrowing bool) bool {
	b := &s.bounds[v]
	if p := s.permission(priority, borrowing); !b.started || b.permission != p {
		*b = bound{permission: p, started: true}
	} else if b.tooLittle {
		return true
	} else if s.fitsIn(v, borrowing) {
		return false
	}
	if !b.complete {
		s.view.Fill(v)
		s.removeOwn(v)
		if v == usage.InReach {
			b.complete = s.removeReach(borrowing)
		} else {
			b.complete = s.removeNeeded(borrowing)
		}
	}
	fits := s.fitsIn(v, borrowing)
	b.tooLittle = !fits && borrowing
	return !fits
}

// boundShortages lists what is short in the first bound in which anything is. It returns
// false when there is none.
func (s *Searcher) boundShortages() bool {
	for v := usage.InReach; v <= usage.InNeed; v++ {
		if s.outOf(v, true) {
			s.shortages = s.listShortages(v, s.shortages[:0])
			return true
		}
	}
	return false
}

func (s *Searcher) removeOwn(v usage.Gone) {
	if s.policy().WithinClusterQueue == queue.Never {
		return
	}
	p := s.permission(own, true)
	equals := s.equalsMayYield()
	s.sum = s.sum[:0]
	s.cluster.SumRunning(&s.sum, s.request.Queue, func(priority int64) bool {
		return p.admits(priority) || equals && priority == s.request.Priority
	})
	s.leave(v, s.request.Queue, s.sum)
}

// leave takes loads out of a node in a view, of what is requested.
func (s *Searcher) leave(v usage.Gone, node int, loads []quotatree.Load) {
	s.view.MoveSlots(v, node, loads, -1, len(s.request.Amounts))
}

// removeReach takes out, at each level, what the sums say of its cohort, but for the child
// that the preemptor's queue is in.
func (s *Searcher) removeReach(borrowing bool) bool {
	for _, l := range s.levels {
		p := s.permission(l.class, borrowing)
		if p == nobody {
			continue
		}
		s.sumReach(&s.sum, l.cohort, p)
		if s.cluster.Borrows(l.except) {
			s.sumReach(&s.exceptSum, l.except, p)
			for i := range s.sum {
				s.sum[i].Amount -= s.passing(l.except, s.sum[i].Column, s.exceptSum)
			}
		}
		s.leave(usage.InReach, l.cohort, s.sum)
	}
	return true
}

// sumReach sets a sum to what those of permitted priority use who run in a queue, or in
// the queues that can be reached under a cohort.
func (s *Searcher) sumReach(sum *[]quotatree.Load, node int, p permission) {
	*sum = (*sum)[:0]
	if s.cluster.IsQueue(node) {
		s.cluster.SumRunning(sum, node, p.admits)
	} else {
		s.cluster.Reach(node).Sums.Sum(sum, func(of cluster.PrioritySum) bool { return p.admits(of.Priority) })
	}
}

// passing is by how much the parent of a node uses less of a column when loads leave.
func (s *Searcher) passing(node, column int, loads []quotatree.Load) int64 {
	c, used := s.view.Tree.Cell(node, column), s.view.AtFirst.At(node, column)
	return c.PastLocal(used) - c.PastLocal(used-quotatree.AmountIn(loads, column))
}

// removeNeeded takes out queue by queue. It returns false when it has stopped early, as the
// request fits already.
func (s *Searcher) removeNeeded(borrowing bool) bool {
	s.bounds[usage.InNeed].donors = 0
	for _, l := range s.levels {
		p := s.permission(l.class, borrowing)
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
		case node == except, s.view.WithinNominalAtFirst(node, s.request.Needs) && (s.cluster.IsQueue(node) || !s.request.Fair.enabled()):
		case s.cluster.IsQueue(node):
			s.sum = s.sum[:0]
			s.cluster.Running(node).Lane(lane).Sum(&s.sum, p.permits)
			s.leave(usage.InNeed, node, s.sum)
			s.bounds[usage.InNeed].donors++
			if n := s.bounds[usage.InNeed].donors; n&(n-1) == 0 && s.fitsIn(usage.InNeed, borrowing) { // looked at ever more rarely
				return false
			}
		default:
			if !s.removeUnder(node, -1, lane, p, borrowing) {
				return false
			}
		}
	}
}
