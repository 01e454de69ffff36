package search

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// class is the right by which the workloads of a queue may be taken.
type class uint8

const (
	// hierarchical: the request fits in the quota of a subtree that the preemptor's
	// queue is in and the donor's queue is not. In fair sharing: any other queue.
	hierarchical class = iota
	// priority: it does not, so the policies on borrowing decide.
	priority
	// own: the preemptor's own queue.
	own
)

// level is a cohort above the preemptor's queue, whose queues may be candidates by one
// right, but for those under the child that the preemptor's queue is in.
type level struct {
	cohort int
	except int
	class  class
	reach  *cluster.Reach
}

// donor is a queue whose workloads are candidates.
type donor struct {
	queue int
	lca   int // the lowest cohort that holds it and the preemptor's queue; -1 for own
	class class
	guarantee
}

// ownDonor is the preemptor's own queue; ok is false when its policy keeps everybody.
func (s *Searcher) ownDonor() (d donor, ok bool) {
	q := s.request.Queue
	return donor{q, -1, own, s.guaranteeOf(q, -1)}, s.policy().WithinClusterQueue != queue.Never
}

// collectLevels walks from the preemptor's cohort to the root. The class is
// hierarchical from the level above the one at which the rest of the request first
// fits a subtree's quota. In fair sharing it is at every level: shares decide.
func (s *Searcher) collectLevels() {
	s.levels = s.levels[:0]
	if s.policy().ReclaimWithinCohort == queue.Never {
		return
	}
	s.rest = append(s.rest[:0], s.request.Amounts...)
	advantage := s.request.Fair.enabled() || s.restFits(s.request.Queue)
	from := s.request.Queue
	for n := s.view.Tree.Parent(from); n >= 0; n = s.view.Tree.Parent(n) {
		class := priority
		if advantage {
			class = hierarchical
		}
		s.levels = append(s.levels, level{n, from, class, s.cluster.Reach(n)})
		if s.restFits(n) {
			advantage = true
		}
		from = n
	}
}

// restFits reports whether the rest of the request fits in the quota of the node's
// subtree, and takes off the rest what the node's local quota holds.
func (s *Searcher) restFits(node int) bool {
	fits := true
	cells := s.view.Cells(node)
	for slot, amount := range s.request.Amounts {
		if amount == 0 {
			continue
		}
		c := &cells[slot]
		if quota.Add(c.Used(usage.Victims), s.rest[slot]) > c.SubtreeQuota {
			fits = false
		}
		s.rest[slot] = max(0, quota.Sub(s.rest[slot], c.LocalAvailable(c.Used(usage.Victims))))
	}
	return fits
}

// eachDonor calls yield with every donor. It leaves out queues and, but in fair sharing,
// whole subtrees that borrow nothing of what needs preemption.
func (s *Searcher) eachDonor(yield func(donor)) {
	if d, ok := s.ownDonor(); ok {
		yield(d)
	}
	for _, l := range s.levels {
		s.eachDonorUnder(l.cohort, l, yield)
	}
}

func (s *Searcher) eachDonorUnder(cohort int, l level, yield func(donor)) {
	for _, q := range s.cluster.ChildQueues[cohort] {
		if int(q) != l.except && !s.view.WithinNominal(int(q), s.request.Needs) {
			yield(donor{int(q), l.cohort, l.class, s.guaranteeOf(int(q), l.cohort)})
		}
	}
	for _, c := range s.cluster.ChildCohorts[cohort] {
		if int(c) != l.except && (s.request.Fair.enabled() || !s.view.WithinNominal(int(c), s.request.Needs)) {
			s.eachDonorUnder(int(c), l, yield)
		}
	}
}

// nothingToReclaim reports whether a donor in another queue, or a cohort between it
// and the common one, is now within its quota. Once so, it stays so while workloads
// are only removed.
func (s *Searcher) nothingToReclaim(d donor) bool {
	if d.class == own {
		return false
	}
	for n := d.queue; n != d.lca; n = s.view.Tree.Parent(n) {
		if s.view.WithinNominal(n, s.request.Needs) {
			return true
		}
	}
	return false
}
