package assign

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/quota"
)

// BorrowHeight returns the height of the lowest subtree above the queue whose quota holds
// the amount beside what runs: 0 for the queue's own nominal quota, the root's when none
// does. belowRoot reports whether one does that is not the whole tree: then what others
// use of it may be reclaimed.
func BorrowHeight(c *cluster.Cluster, queue, column int, amount int64) (height int, belowRoot bool) {
	n := c.Tree.Parent(queue)
	cell, usage := c.Tree.Cell(queue, column), c.Usage.At(queue, column)
	if n < 0 {
		return 0, false
	}
	if quota.Add(usage, amount) <= cell.Nominal {
		return 0, true
	}
	rest := quota.Sub(amount, cell.LocalAvailable(usage))
	for {
		cell, usage := c.Tree.Cell(n, column), c.Usage.At(n, column)
		parent := c.Tree.Parent(n)
		if parent < 0 {
			return c.Tree.Height(n), false
		}
		if quota.Add(usage, rest) <= cell.SubtreeQuota {
			return c.Tree.Height(n), true
		}
		rest = quota.Sub(rest, cell.LocalAvailable(usage))
		n = parent
	}
}

// Missing returns how much the amount is over what is available to the queue, nobody
// preempted, and the nearest node whose quota or limit is the bound: each bounds what is
// left of the local quotas below it and what may come through it. Zero fits always.
func Missing(c *cluster.Cluster, queue, column int, amount int64) (missing int64, bound int) {
	available, local := quota.Unlimited, int64(0)
	for n := queue; n >= 0; n = c.Tree.Parent(n) {
		cell, usage := c.Tree.Cell(n, column), c.Usage.At(n, column)
		through := quota.Sub(cell.SubtreeQuota, usage)
		if c.Tree.Parent(n) >= 0 {
			local = quota.Add(local, cell.LocalAvailable(usage))
			through = cell.FromParent(usage)
		}
		if a := quota.Add(local, through); a < available || n == queue {
			available, bound = a, n
		}
	}
	if amount == 0 || amount <= available {
		return 0, bound
	}
	return quota.Sub(amount, available), bound
}
