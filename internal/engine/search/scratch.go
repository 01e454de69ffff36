package search

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/quota"
)

// scratch is the usage of a cluster as it would be with some workloads gone, in several
// views. It holds the columns that the decision is about ("slots") and copies a node
// from the cluster when it is first touched; an epoch tells this decision's copies
// from those of earlier ones, so that nothing is cleared between decisions.
type scratch struct {
	tree    *quotatree.Tree
	usage   quotatree.Usage
	columns []int   // of the slots; -1 for one that the cluster does not know
	slots   []int32 // by column: one more than its slot; 0 without
	rows    []int32 // by node: where its cells are
	epochs  []uint32
	epoch   uint32
	cells   []cell // of the nodes that were touched, in turn
	changes []change
}

// view says who is gone.
type view int

const (
	victims view = iota // those taken so far
	inReach             // see bound
	inNeed
	views
)

// cell is the quota and the usage of one node in one slot.
type cell struct {
	quotatree.Cell
	first int64 // with nobody gone
	usage [views]int64
}

func (s *scratch) reset(c *cluster.Cluster, columns []int) {
	s.release()
	s.tree, s.usage, s.columns = c.Usage.Tree(), c.Usage, columns
	s.cells = s.cells[:0]
	if s.tree.Len() > len(s.epochs) {
		s.epochs, s.rows = make([]uint32, s.tree.Len()), make([]int32, s.tree.Len())
		s.epoch = 0
	}
	if s.epoch++; s.epoch == 0 { // wrapped: old copies must not look like new ones
		clear(s.epochs)
		s.epoch = 1
	}
	for slot, column := range columns {
		if column >= len(s.slots) {
			s.slots = append(s.slots, make([]int32, column+1-len(s.slots))...)
		}
		if column >= 0 {
			s.slots[column] = int32(slot + 1)
		}
	}
}

// release lets go of the cluster.
func (s *scratch) release() {
	for _, column := range s.columns {
		if column >= 0 {
			s.slots[column] = 0
		}
	}
	s.tree, s.usage, s.columns = nil, quotatree.Usage{}, nil
}

// slot returns the slot of a column; -1 without.
func (s *scratch) slot(column int) int {
	if column >= len(s.slots) {
		return -1
	}
	return int(s.slots[column]) - 1
}

// node returns the cells of a node, one a slot. They are good to write until the next
// node is touched, and to read as long as nothing is written.
func (s *scratch) node(n int) []cell {
	if s.epochs[n] != s.epoch {
		s.copyNode(n)
	}
	return s.cells[s.rows[n]:][:len(s.columns)]
}

func (s *scratch) copyNode(n int) {
	first := len(s.cells)
	s.epochs[n], s.rows[n] = s.epoch, int32(first)
	s.cells = slices.Grow(s.cells, len(s.columns))[:first+len(s.columns)]
	row := s.usage.Row(n)
	for slot, column := range s.columns {
		c := &s.cells[first+slot]
		c.Cell, c.first = s.tree.Cell(n, column), quotatree.AmountIn(row, column)
		for v := range views {
			c.usage[v] = c.first
		}
	}
}

// share returns the share of a node. All columns of its tree must have slots.
func (s *scratch) share(n int) quota.Share {
	if s.epochs[n] != s.epoch {
		return s.usage.Share(n)
	}
	cells := s.node(n)
	return s.tree.Share(n, func(column int) int64 { return cells[s.slots[column]-1].usage[victims] })
}

// fill makes a view that of nobody gone.
func (s *scratch) fill(v view) {
	for i := range s.cells {
		s.cells[i].usage[v] = s.cells[i].first
	}
}

// change adds loads to the queue at the node so many times; a negative number takes
// them out.
func (s *scratch) change(v view, node int, loads []quotatree.Load, times int64) {
	s.changes = s.changes[:0]
	for i := range loads {
		if slot := s.slot(loads[i].Column); slot >= 0 {
			s.changes = append(s.changes, change{slot, times * loads[i].Amount})
		}
	}
	s.bubble(v, node, s.changes)
}

// add adds an amount in one slot.
func (s *scratch) add(v view, node, slot int, amount int64) {
	s.changes = append(s.changes[:0], change{slot, amount})
	s.bubble(v, node, s.changes)
}

// change is by how much a slot changes.
type change struct {
	slot int
	by   int64
}

// bubble changes the usage of a node, and of its ancestors by what changes past the
// local quotas. Usage is within quota.MaxUsage, so plain sums are exact. It writes to the
// list of changes.
func (s *scratch) bubble(v view, n int, changes []change) {
	for ; n >= 0 && len(changes) > 0; n = s.tree.Parent(n) {
		cells, left := s.node(n), changes[:0]
		for _, d := range changes {
			c := &cells[d.slot]
			before := c.usage[v]
			c.usage[v] += d.by
			if c.LocalQuota > 0 {
				d.by = c.PastLocal(c.usage[v]) - c.PastLocal(before)
			}
			if d.by != 0 {
				left = append(left, d)
			}
		}
		changes = left
	}
}
