package quotatree

import (
	"github.com/cedesched/cede/quota"
)

// Cell holds the fixed numbers of one node in one column. Its methods are the arithmetic of
// the tree for one node; [Usage] and the search use them in their walks. A node without a
// quota entry has [NoCell].
type Cell struct {
	// Nominal is the node's own quota.
	Nominal int64
	// BorrowingLimit is Unlimited if there is none.
	BorrowingLimit int64
	// SubtreeQuota is, for a queue, its nominal quota; for a cohort, its nominal quota plus
	// what its children lend.
	SubtreeQuota int64
	// Lendable is the part of SubtreeQuota that the parent sees:
	// min(SubtreeQuota, lending limit).
	Lendable int64
	// LocalQuota is the rest: SubtreeQuota - Lendable, never negative.
	LocalQuota int64
}

// NoCell is the cell of a node without a quota entry: no quota of its own, and no borrowing
// limit.
var NoCell = Cell{BorrowingLimit: quota.Unlimited}

func newCell(nominal, lent int64, borrowing, lending quota.OptionalInt64) Cell {
	c := Cell{Nominal: nominal, BorrowingLimit: quota.Unlimited, SubtreeQuota: quota.Add(nominal, lent)}
	if limit, ok := borrowing.Get(); ok {
		c.BorrowingLimit = limit
	}
	c.Lendable = c.SubtreeQuota
	if limit, ok := lending.Get(); ok {
		c.Lendable = min(c.SubtreeQuota, limit)
	}
	if c.Lendable < c.SubtreeQuota {
		c.LocalQuota = quota.Sub(c.SubtreeQuota, c.Lendable)
	}
	return c
}

// PastLocal returns the part of a node's usage that its parent carries: max(0, usage - local
// quota).
func (c *Cell) PastLocal(usage int64) int64 { return max(0, quota.Sub(usage, c.LocalQuota)) }

// LocalAvailable returns what is left of the local quota, never negative.
func (c *Cell) LocalAvailable(usage int64) int64 { return max(0, quota.Sub(c.LocalQuota, usage)) }

// FromParent returns the most that the node may still take through its parent: what it lends
// and does not use, plus its borrowing limit. Negative if over-admitted.
func (c *Cell) FromParent(usage int64) int64 {
	return quota.Add(quota.Sub(c.Lendable, c.PastLocal(usage)), c.BorrowingLimit)
}

// WithinNominal reports whether usage is within the node's subtree quota: the node borrows
// nothing.
func (c *Cell) WithinNominal(usage int64) bool { return usage <= c.SubtreeQuota }

// Borrowed returns the usage over the subtree quota, never negative.
func (c *Cell) Borrowed(usage int64) int64 { return max(0, quota.Sub(usage, c.SubtreeQuota)) }
