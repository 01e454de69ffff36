package rules

import (
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/usage"
)

// capacity says for which cohorts BorrowingCapacityFromPreemptor holds now: those above both queues
// that have at most a depth. It is good until somebody is taken or put back.
type capacity struct {
	depth int // -1: for none
	epoch uint64
}

// hasCapacity reports whether BorrowingCapacityFromPreemptor holds below a cohort of the preemptor's.
func (t *Taker) hasCapacity(s *search.Search, cohort int) bool {
	return s.View.Tree.Depth(cohort) <= t.capacityDepth(s)
}

// capacityDepth finds the nearest cohort. The request fits below a farther one if it does below a nearer
// one.
func (t *Taker) capacityDepth(s *search.Search) int {
	c := &t.capacity
	if c.epoch != t.shares.epoch {
		c.depth, c.epoch = -1, t.shares.epoch
		for n := s.View.Tree.Parent(s.Request.Queue); n >= 0; n = s.View.Tree.Parent(n) {
			if s.Advantage(usage.Victims, n) {
				c.depth = s.View.Tree.Depth(n)
				break
			}
		}
	}
	return c.depth
}

// lacks reports whether BorrowingCapacityFromPreemptor does not hold for the workloads of a queue of the
// preemptor's tree, whatever they are.
func (t *Taker) lacks(s *search.Search, d *donor) bool {
	if !t.constrained || d.node == s.Request.Queue {
		return false
	}
	cohort := lowestAbove(s.Cluster, d.node, s.Request.Queue)
	return cohort >= 0 && !t.hasCapacity(s, cohort)
}
