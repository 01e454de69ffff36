package quotatree

import "github.com/cedesched/cede/quota"

// Column is what a walk from a node to its root reads, of one column: the quota of a node
// and what it uses. [Usage.Of] is that of a usage; a copy in which some are gone has its own.
type Column interface {
	At(node int) (c *Cell, usage int64)
}

// Available is what a node can still take: for a root its subtree quota less its usage;
// else what is left of its local quota plus the lesser of what the parent can still take
// and what may come through it. Negative when over-admitted. bound is the nearest node
// whose quota or limit sets it.
//
// That recursion over the parents is unrolled: each node bounds the sum of what is left of
// the local quotas below and what may come through it.
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

// BorrowHeight is the height of the lowest subtree above a queue whose quota holds an
// amount beside what is used, less what the local quotas below it hold: 0 for the queue's
// own nominal quota or without cohort, the root's when none does. belowRoot reports whether
// one does that is not the whole tree: then what others use of it may be reclaimed.
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

// At returns the cell of a node and what it uses.
func (c UsageColumn) At(node int) (*Cell, int64) {
	return c.usage.tree.cell(node, c.column), c.usage.At(node, c.column)
}

// Available is what the node can still take; see the function of that name.
func (u Usage) Available(node, column int) int64 {
	amount, _ := Available(u.tree, u.Of(column), node)
	return amount
}

// Missing is how much an amount is over what is available to a node, and the nearest node
// whose quota or limit is the bound. Zero fits always.
func (u Usage) Missing(node, column int, amount int64) (missing int64, bound int) {
	available, bound := Available(u.tree, u.Of(column), node)
	if amount == 0 || amount <= available {
		return 0, bound
	}
	return quota.Sub(amount, available), bound
}

// BorrowHeight is how high a queue borrows for an amount; see the function of that name.
func (u Usage) BorrowHeight(queue, column int, amount int64) (height int, belowRoot bool) {
	return BorrowHeight(u.tree, u.Of(column), queue, amount)
}
