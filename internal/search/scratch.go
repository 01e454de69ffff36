package search

import (
	"github.com/cedesched/cede/internal/cluster"
	"github.com/cedesched/cede/quota"
)

// scratch is the usage of a cluster as it would be with the victims taken so far
// gone. It holds the columns that the request is about ("slots") and copies a node
// from the cluster when it is first touched; an epoch tells this decision's copies
// from those of earlier ones, so that nothing is cleared between decisions.
type scratch struct {
	tree    *quota.Tree
	usage   quota.Usage
	columns []int // of the slots; -1 for one that the cluster does not know
	cells   []cell
	epochs  []uint32 // by node
	epoch   uint32
}

// cell is the quota and the usage of one node in one slot.
type cell struct {
	quota.Cell
	usage int64
}

func (s *scratch) reset(c *cluster.Cluster, columns []int) {
	s.tree, s.usage, s.columns = c.Usage.Tree(), c.Usage, columns
	if n := s.tree.Len() * len(columns); n > cap(s.cells) {
		s.cells = make([]cell, n)
	} else {
		s.cells = s.cells[:n]
	}
	if s.tree.Len() > len(s.epochs) {
		s.epochs = make([]uint32, s.tree.Len())
		s.epoch = 0
	}
	if s.epoch++; s.epoch == 0 { // wrapped: old copies must not look like new ones
		clear(s.epochs)
		s.epoch = 1
	}
}

// release lets go of the cluster, so that a searcher at rest keeps none alive.
func (s *scratch) release() { s.tree, s.usage, s.columns = nil, quota.Usage{}, nil }

// node returns the cells of a node, one a slot.
func (s *scratch) node(n int) []cell {
	cells := s.cells[n*len(s.columns) : (n+1)*len(s.columns)]
	if s.epochs[n] != s.epoch {
		s.epochs[n] = s.epoch
		for i, column := range s.columns {
			cells[i] = cell{s.tree.Cell(n, column), s.usage.At(n, column)}
		}
	}
	return cells
}

// change adds loads to the queue at the node so many times; a negative number takes
// them out.
func (s *scratch) change(node int, loads []quota.Load, times int64) {
	for _, l := range loads {
		for slot, column := range s.columns {
			if column == l.Column {
				s.bubble(node, slot, times*l.Amount)
			}
		}
	}
}

// bubble changes the usage of a node, and of its ancestors by what changes past the
// local quotas. Usage is within quota.MaxUsage, so plain sums are exact.
func (s *scratch) bubble(n, slot int, change int64) {
	for ; n >= 0 && change != 0; n = s.tree.Parent(n) {
		c := &s.node(n)[slot]
		before := c.PastLocal(c.usage)
		c.usage += change
		change = c.PastLocal(c.usage) - before
	}
}
