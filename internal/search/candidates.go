package search

import (
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// class is the right by which the workloads of a queue may be taken.
type class uint8

const (
	// hierarchical: the request fits in the quota of a subtree that the preemptor's
	// queue is in and the donor's queue is not.
	hierarchical class = iota
	// priority: it does not, so the policies on borrowing decide.
	priority
	// own: the preemptor's own queue.
	own
)

// donor is a queue whose workloads are candidates.
type donor struct {
	queue int
	lca   int // the lowest cohort that holds it and the preemptor's queue; -1 for own
	class class
	guarantee
}

// collectDonors lists the queues that candidates come from. It walks from the
// preemptor's cohort to the root. At each cohort it takes the queues of the subtree
// that it has not passed, leaving out queues and whole subtrees that borrow nothing
// of what needs preemption. The class is hierarchical from the level above the one
// at which the rest of the request first fits a subtree's quota.
func (s *Searcher) collectDonors() {
	s.donors = s.donors[:0]
	policy := s.policy()
	if policy.WithinClusterQueue != queue.Never {
		s.donors = append(s.donors, donor{s.request.Queue, -1, own, s.guaranteeOf(s.request.Queue, -1)})
	}
	if policy.ReclaimWithinCohort == queue.Never {
		return
	}
	s.rest = append(s.rest[:0], s.request.Amounts...)
	advantage := s.restFits(s.request.Queue)
	from := s.request.Queue
	for n := s.scratch.tree.Parent(from); n >= 0; n = s.scratch.tree.Parent(n) {
		class := priority
		if advantage {
			class = hierarchical
		}
		s.collectSubtree(n, n, from, class)
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
	cells := s.scratch.node(node)
	for slot, amount := range s.request.Amounts {
		if amount == 0 {
			continue
		}
		c := &cells[slot]
		if quota.Add(c.usage, s.rest[slot]) > c.SubtreeQuota {
			fits = false
		}
		s.rest[slot] = max(0, quota.Sub(s.rest[slot], c.LocalAvailable(c.usage)))
	}
	return fits
}

func (s *Searcher) collectSubtree(cohort, lca, except int, class class) {
	for _, q := range s.cluster.ChildQueues[cohort] {
		if int(q) != except && !s.withinNominal(int(q)) {
			s.donors = append(s.donors, donor{int(q), lca, class, s.guaranteeOf(int(q), lca)})
		}
	}
	for _, c := range s.cluster.ChildCohorts[cohort] {
		if int(c) != except && !s.withinNominal(int(c)) {
			s.collectSubtree(int(c), lca, except, class)
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
	for n := d.queue; n != d.lca; n = s.scratch.tree.Parent(n) {
		if s.withinNominal(n) {
			return true
		}
	}
	return false
}
