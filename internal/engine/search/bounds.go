package search

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// A request is hopeless if it does not fit without all workloads of a priority that the policies
// permit, whatever other rules protect them. Sums prove that without a look at any workload.
// There are two bounds, each a kind of removed workloads in the view:
//
//   - in reach: workloads in queues that borrow anything, if their cohorts, up to the
//     common one, all borrow. The cluster keeps a sum by priority for each level.
//   - in need: workloads in queues that borrow what needs preemption. This bound is
//     closer, but has to be added up queue by queue.

// askDonorsAfter is the number of victims after which both bounds are asked. That in need
// takes a look at each donor, which an answer of few victims does not pay for. The bound in
// reach is asked after the first victim already, if that frees less than an
// askDonorsAfter-th of what is short. The answer is the same whatever the number is.
// With 2, answers of four victims take 30 % longer, and twice as long with borrowing (worlds f2 and
// t2 of the bench). 32 is as fast as 8, and a sixth faster for ten victims; it has no measurable
// cost for hopeless requests.
const askDonorsAfter = 8

// AsksNow reports whether it is time to ask the bounds.
func (s *Search) AsksNow() bool { return len(s.Taken) == 1 || len(s.Taken) == askDonorsAfter }

// HopelessByNow reports whether it is time to compute the bounds and they prove that the
// attempt fails.
func (s *Search) HopelessByNow(m source.Mode) bool {
	switch {
	case m.All || !s.AsksNow():
		return false
	case len(s.Taken) == 1:
		return s.FreesLittle(&s.Taken[0]) && s.RefusedIn(usage.InReach, m.Borrowing)
	}
	return s.RefusedIn(usage.InReach, m.Borrowing) || s.RefusedIn(usage.InNeed, m.Borrowing)
}

// RefusedIn is HopelessIn for an attempt that then ends.
func (s *Search) RefusedIn(gone usage.Gone, borrowing bool) bool {
	refused := s.HopelessIn(gone, borrowing)
	if t := s.Request.Trace; t != nil && refused {
		s.traceBound(t, gone, borrowing)
	}
	return refused
}

// Hopeless reports whether a bound proves that the attempt fails.
func (s *Search) Hopeless(borrowing bool) bool {
	return s.HopelessIn(usage.InReach, borrowing) || s.HopelessIn(usage.InNeed, borrowing)
}

// HopelessIn reports whether the request does not fit in one of the bounds, for the workloads
// that an attempt permits.
func (s *Search) HopelessIn(gone usage.Gone, borrowing bool) bool {
	s.inTree = false
	b := &s.bounds[gone]
	if p := s.Permission(right.Priority, borrowing); !b.started || b.permission != p {
		*b = bound{permission: p, started: true}
	} else if b.hopeless {
		return true
	} else if s.fitsIn(gone, borrowing) {
		return false
	}
	if !b.complete {
		s.View.Fill(gone)
		s.removeOwn(gone)
		if gone == usage.InReach {
			b.complete = s.removeReach(borrowing)
		} else {
			b.complete = s.removeNeeded(borrowing)
		}
	}
	fits := s.fitsIn(gone, borrowing)
	b.hopeless = !fits && borrowing
	return !fits
}

// NoteHopeless records what is short in the first bound in which something is. It returns
// false if there is none.
func (s *Search) NoteHopeless() bool {
	for gone := usage.InReach; gone <= usage.InNeed; gone++ {
		if s.HopelessIn(gone, true) {
			s.noteShortages(gone)
			return true
		}
	}
	return false
}

func (s *Search) removeOwn(gone usage.Gone) {
	if s.Policy().WithinClusterQueue == queue.Never {
		return
	}
	p := s.Permission(right.Own, true)
	equals := s.EqualsMayYield()
	sum := zeros(&s.sum, s.Request)
	s.Cluster.AddRunning(sum, requested(s.Request), s.Request.Queue, func(priority int64) bool {
		return p.Admits(priority) || equals && priority == s.Request.Priority
	})
	s.View.RemoveSlots(gone, s.Request.Queue, sum)
}

// zeros makes a list of zeros, one for each requested column.
func zeros(list *[]int64, r *right.Request) []int64 {
	*list = slices.Grow((*list)[:0], len(r.Amounts))[:len(r.Amounts)]
	clear(*list)
	return *list
}

// requested returns the requested columns.
func requested(r *right.Request) []int { return r.Columns[:len(r.Amounts)] }

// removeReach removes, at each level, the sums of its cohort without the child above the
// preemptor's queue.
func (s *Search) removeReach(borrowing bool) bool {
	for _, l := range s.Levels {
		p := s.Permission(l.Class, borrowing)
		if p == right.None {
			continue
		}
		s.leaveReach(l.Cohort, l.Except, p)
	}
	return true
}

// leaveReach removes the sums of a cohort without one of its children.
func (s *Search) leaveReach(cohort, except int, p right.Permission) {
	sum := s.sumReach(&s.sum, cohort, p)
	if s.Cluster.CanReach(except) {
		for slot, amount := range s.sumReach(&s.exceptSum, except, p) {
			if amount != 0 {
				sum[slot] -= s.passing(except, s.Request.Columns[slot], amount)
			}
		}
	}
	s.View.RemoveSlots(usage.InReach, cohort, sum)
}

// HopelessByRules reports whether the request does not fit in a bound, for the priorities that rules
// permit; in the tree: in all queues, whether they borrow or not. of returns the priorities for a cohort,
// when all workloads below it are gone; the own queue comes first, as -1. If it does not fit, what is
// short by rules alone is recorded.
func (s *Search) HopelessByRules(gone usage.Gone, inTree bool, of func(cohort int) right.Permission) bool {
	s.View.Fill(gone)
	s.inTree = inTree
	s.bounds[gone] = bound{} // that of the policies
	leave := func(q int, p right.Permission) {
		sum := zeros(&s.sum, s.Request)
		s.Cluster.AddRunning(sum, requested(s.Request), q, p.Admits)
		s.View.RemoveSlots(gone, q, sum)
	}
	gives := func(node int) bool {
		return inTree || gone == usage.InReach && s.Cluster.Borrows(node) || gone == usage.InNeed && s.GaveAtFirst(node)
	}
	leave(s.Request.Queue, of(-1))
	for from, n := s.Request.Queue, s.View.Tree.Parent(s.Request.Queue); n >= 0; from, n = n, s.View.Tree.Parent(n) {
		p := of(n)
		s.Cluster.EachQueueUnder(n, from, gives, func(q int) bool {
			if gives(q) && !s.Cluster.Queue(q).Inactive {
				leave(q, p)
			}
			return p != right.None
		})
	}
	if s.fitsIn(gone, true) {
		return false
	}
	if s.Request.Rules.Alone {
		s.noteShortages(gone)
	}
	return true
}

// sumReach computes the usage of the workloads of permitted priority in a queue, or in the
// queues under a cohort that can be reached.
func (s *Search) sumReach(list *[]int64, node int, p right.Permission) (sum []int64) {
	sum = zeros(list, s.Request)
	if s.Cluster.IsQueue(node) {
		s.Cluster.AddRunning(sum, requested(s.Request), node, p.Admits)
	} else {
		s.Cluster.AddReach(sum, requested(s.Request), node, p.Admits)
	}
	return sum
}

// passing returns by how much the usage of a node's parent in a column falls when an amount leaves the node.
func (s *Search) passing(node, column int, amount int64) int64 {
	c, used := s.View.Tree.Cell(node, column), s.View.AtFirst.At(node, column)
	return c.PastLocal(used) - c.PastLocal(used-amount)
}

// removeNeeded removes queue by queue. It stops early and returns false if the request fits.
func (s *Search) removeNeeded(borrowing bool) bool {
	s.bounds[usage.InNeed].donors = 0
	for _, l := range s.Levels {
		p := s.Permission(l.Class, borrowing)
		if p == right.None {
			continue
		}
		if !s.removeLanes(l.Cohort, l.Except, p, borrowing) {
			return false
		}
	}
	return true
}

// removeLanes removes all lanes of the queues under a cohort that can be reached.
func (s *Search) removeLanes(cohort, except int, p right.Permission, borrowing bool) bool {
	for lane := cluster.Active; lane <= cluster.EvictedUnreserved; lane++ {
		if !s.removeUnder(cohort, except, lane, p, borrowing) {
			return false
		}
	}
	return true
}

// removeUnder removes one lane of the queues under a cohort that can be reached.
func (s *Search) removeUnder(cohort, except int, lane cluster.Lane, p right.Permission, borrowing bool) bool {
	var cursor cluster.HeadCursor
	for cluster.SeekLane(&cursor, s.Cluster.Heads(cohort), lane); ; cursor.Next() {
		h, ok := cursor.Item()
		if !ok || h.Lane != lane || !p.Permits(h.Workload) {
			return true
		}
		node := int(h.Node)
		switch {
		case node == except, !s.GaveAtFirst(node):
		case s.Cluster.IsQueue(node):
			sum := zeros(&s.sum, s.Request)
			cluster.AddFront(sum, requested(s.Request), s.Cluster.Running(node).Lane(lane), p.Permits)
			s.View.RemoveSlots(usage.InNeed, node, sum)
			s.bounds[usage.InNeed].donors++
			if n := s.bounds[usage.InNeed].donors; n&(n-1) == 0 && s.fitsIn(usage.InNeed, borrowing) { // checked at 1, 2, 4, 8, ... donors
				return false
			}
		default:
			if !s.removeUnder(node, -1, lane, p, borrowing) {
				return false
			}
		}
	}
}

// FreesLittle reports whether many more victims like this one, which is already taken, would
// be needed.
func (s *Search) FreesLittle(v *right.Victim) bool {
	for slot, amount := range s.Request.Amounts {
		if amount == 0 {
			continue
		}
		available, _ := s.View.Available(usage.Victims, s.Request.Queue, slot)
		if quota.Sub(amount, available) > quota.Mul(askDonorsAfter, v.Load(s.Request.Columns[slot])) {
			return true
		}
	}
	return false
}
