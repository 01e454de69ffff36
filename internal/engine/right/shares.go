package right

import (
	"math"

	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/quota"
)

// Share returns the share of a node without the victims, with the request if the node is the
// preemptor's queue or above it.
func (c *Case) Share(node int) quota.Share {
	if c.Above(node) {
		return c.View.ShareWith(node, c.Request.Queue, c.Added())
	}
	return c.View.Share(node)
}

// Above reports whether a node is the preemptor's queue or above it.
func (c *Case) Above(node int) bool {
	n := c.Request.Queue
	for n >= 0 && n != node {
		n = c.View.Tree.Parent(n)
	}
	return n == node
}

// Added returns, by slot, what the request adds to usage: its amount, except where the largest
// usage plus the largest request is one too many for an int64.
func (c *Case) Added() []int64 {
	if c.addedKnown {
		return c.added
	}
	c.added, c.addedKnown = append(c.added[:0], c.Request.Amounts...), true
	for n := c.Request.Queue; n >= 0; n = c.View.Tree.Parent(n) {
		for slot, cells := 0, c.View.Cells(n); slot < len(c.added); slot++ {
			c.added[slot] = min(c.added[slot], math.MaxInt64-cells[slot].AtFirst())
		}
	}
	return c.added
}

// OthersBorrow reports whether the queue, or a cohort above it, with the request borrows of a slot that is not this one. If not,
// the shares on the way are those of a request for this slot alone.
func (c *Case) OthersBorrow(slot int) bool {
	for other, more := range c.Added() {
		for n := c.Request.Queue; n >= 0 && more > 0 && other != slot; n = c.View.Tree.Parent(n) {
			cell := &c.View.Cells(n)[other]
			used := cell.Used(usage.Victims)
			if cell.Borrowed(used+more) > 0 {
				return true
			}
			more = cell.PastLocal(used+more) - cell.PastLocal(used)
		}
	}
	return false
}

// EnterShares finds out whether the preemptor is entitled while no victim is taken, if a
// protection depends on it.
func (c *Case) EnterShares() {
	if p := &c.Request.Protection; c.Request.Fair.Enabled() && p.Reclaim != p.FairSharing {
		c.entitledAtFirst = c.Entitled()
	}
}

// Entitled reports whether the preemptor needs no strategy: with the request it stays within its
// nominal quota in what needs preemption; with Stable, in everything of which its tree has a quota
// and in all that is asked.
func (c *Case) Entitled() bool {
	if !c.Request.Fair.EntitlesNominal {
		return false
	}
	added := c.Added()
	for slot := range c.columns {
		more := int64(0)
		if slot < len(added) {
			more = added[slot]
		}
		counts := slot < len(added) && c.Needs[slot]
		if c.Request.Fair.Stable {
			counts = c.counts(slot)
		}
		if counts && c.View.BorrowsWith(c.Request.Queue, slot, more) {
			return false
		}
	}
	return true
}

// counts reports whether a slot is asked for, or one of a column of which the tree has a quota.
func (c *Case) counts(slot int) bool {
	if slot >= len(c.Request.Amounts) || c.Request.Amounts[slot] > 0 {
		return true
	}
	for of := range c.Cluster.Tree.EachColumn(c.Cluster.Tree.Root(c.Request.Queue)) {
		if of == c.Request.Columns[slot] {
			return true
		}
	}
	return false
}
