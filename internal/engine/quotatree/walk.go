package quotatree

import "github.com/cedesched/cede/quota"

// Column is one column of the quota and usage of all nodes, for a walk from a node to its
// root. [Usage.Of] returns that of a usage; a view has its own.
type Column interface {
	At(node int) (c *Cell, usage int64)
}

// Available returns what a node can still take. For a root it is the subtree quota minus the
// usage. For other nodes it is what is left of the local quota, plus the smaller of what the
// parent can still take and what may come through the parent. It is negative if
// over-admitted. bound is the nearest node of which the quota or limit sets the result.
//
// The recursion over the parents is unrolled: at each node the result is limited by what is
// left of the local quotas below it plus what may come through it.
func Available[C Column](t *Tree, of C, node int) (amount int64, bound int) {
	amount, bound = quota.Unlimited, node
	for local := int64(0); ; {
		c, usage := of.At(node)
		parent := t.Parent(node)
		through := quota.Sub(c.SubtreeQuota, usage)
		if parent >= 0 {
			local = quota.Add(local, c.LocalAvailable(usage))
			through = c.FromParent(usage)
		}
		if a := quota.Add(local, through); a < amount {
			amount, bound = a, node
		}
		if parent < 0 {
			return amount, bound
		}
		node = parent
	}
}

// BorrowHeight returns the height of the lowest subtree above a queue with a quota that holds the
// amount in addition to its usage, where local quotas below hold their part of the amount. It
// is 0 for the queue's own nominal quota or a queue without cohort, and the height of the
// root if no quota holds it. belowRoot reports whether a subtree smaller than the whole tree
// holds it: then what others use of that quota may be reclaimed.
func BorrowHeight[C Column](t *Tree, of C, queue int, amount int64) (height int, belowRoot bool) {
	n := t.Parent(queue)
	if n < 0 {
		return 0, false
	}
	c, usage := of.At(queue)
	if quota.Add(usage, amount) <= c.Nominal {
		return 0, true
	}
	for {
		amount = quota.Sub(amount, c.LocalAvailable(usage))
		parent := t.Parent(n)
		if parent < 0 {
			return t.Height(n), false
		}
		if c, usage = of.At(n); quota.Add(usage, amount) <= c.SubtreeQuota {
			return t.Height(n), true
		}
		n = parent
	}
}

// UsageColumn is one column of a usage.
type UsageColumn struct {
	usage  Usage
	column int
}

// Of returns one column of the usage.
func (u Usage) Of(column int) UsageColumn { return UsageColumn{u, column} }

// At returns the cell and the usage of a node.
func (c UsageColumn) At(node int) (*Cell, int64) {
	return c.usage.tree.cell(node, c.column), c.usage.At(node, c.column)
}

// Available returns what the node can still take; see the function [Available].
func (u Usage) Available(node, column int) int64 {
	amount, _ := Available(u.tree, u.Of(column), node)
	return amount
}

// Missing returns by how much an amount is over what is available to a node, and the nearest
// node of which the quota or limit is exceeded. An amount of zero always fits.
func (u Usage) Missing(node, column int, amount int64) (missing int64, bound int) {
	available, bound := Available(u.tree, u.Of(column), node)
	if amount == 0 || amount <= available {
		return 0, bound
	}
	return quota.Sub(amount, available), bound
}

// BorrowHeight returns how high a queue borrows for an amount; see the function
// [BorrowHeight].
func (u Usage) BorrowHeight(queue, column int, amount int64) (height int, belowRoot bool) {
	return BorrowHeight(u.tree, u.Of(column), queue, amount)
}
