package right

import (
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// CollectLevels collects the levels from which the policy permits the queue to reclaim: all
// or none.
func (c *Case) CollectLevels() {
	c.Levels = c.Levels[:0]
	c.EnterShares()
	if c.Policy().ReclaimWithinCohort == queue.Never {
		return
	}
	for l := range c.EachLevel {
		l.Reach = c.Cluster.Reach(l.Cohort)
		c.Levels = append(c.Levels, l)
	}
}

// EachLevel walks from the preemptor's cohort to the root. The class is Hierarchical above
// the first level at which the rest of the request fits in the quota of the subtree. Where shares
// decide it is Hierarchical at every level.
func (c *Case) EachLevel(yield func(Level) bool) {
	c.rest = append(c.rest[:0], c.Request.Amounts...)
	from := c.Request.Queue
	advantage := c.restFits(from) || c.Request.SharesDecide()
	for n := c.View.Tree.Parent(from); n >= 0; n = c.View.Tree.Parent(n) {
		class := Priority
		if advantage {
			class = Hierarchical
		}
		if !yield(Level{Cohort: n, Except: from, Class: class}) {
			return
		}
		advantage = c.restFits(n) || advantage
		from = n
	}
}

// Advantage reports whether the request fits, without the victims, in the quota of the queue, or of a
// cohort above it that is below another cohort.
func (c *Case) Advantage(cohort int) bool {
	c.rest = append(c.rest[:0], c.Request.Amounts...)
	for n := c.Request.Queue; n != cohort; n = c.View.Tree.Parent(n) {
		if c.restFits(n) {
			return true
		}
	}
	return false
}

// restFits reports whether the rest of the request fits, without the victims, in the quota of the
// node's subtree, and subtracts from the rest what the node's local quota can hold.
func (c *Case) restFits(node int) bool {
	fits := true
	cells := c.View.Cells(node)
	for slot, amount := range c.Request.Amounts {
		if amount == 0 {
			continue
		}
		cell := &cells[slot]
		if quota.Add(cell.Used(usage.Victims), c.rest[slot]) > cell.SubtreeQuota {
			fits = false
		}
		c.rest[slot] = max(0, quota.Sub(c.rest[slot], cell.LocalAvailable(cell.Used(usage.Victims))))
	}
	return fits
}

// Below returns the child of a cohort that is a queue under it, or above that queue.
func (c *Case) Below(cohort, queue int) int {
	for c.View.Tree.Parent(queue) != cohort {
		queue = c.View.Tree.Parent(queue)
	}
	return queue
}

// Common returns the lowest cohort above a queue and the preemptor's; -1 if they are in different trees.
func (c *Case) Common(queue int) int {
	tree := c.Cluster.Tree
	a, b := tree.Parent(queue), tree.Parent(c.Request.Queue)
	for a >= 0 && b >= 0 && a != b {
		switch deeper := tree.Depth(a) - tree.Depth(b); {
		case deeper > 0:
			a = tree.Parent(a)
		case deeper < 0:
			b = tree.Parent(b)
		default:
			a, b = tree.Parent(a), tree.Parent(b)
		}
	}
	if a < 0 || b < 0 {
		return -1
	}
	return a
}
