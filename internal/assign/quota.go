package assign

import (
	"github.com/cedesched/cede/internal/cluster"
	"github.com/cedesched/cede/quota"
)

// lowestSubtree returns the height of the lowest subtree above the queue whose quota
// holds the amount beside what runs: 0 for the queue's own nominal quota, the root's when
// none does. belowRoot reports whether one does that is not the whole tree: then what
// others use of it may be reclaimed.
func lowestSubtree(c *cluster.Cluster, queue, column int, amount int64) (height int, belowRoot bool) {
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
