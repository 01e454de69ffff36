// Package usage is what a cluster uses with some of its workloads gone: the copy on which
// a search tries things out.
package usage

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/quota"
)

// View is the usage of a cluster as it would be with some workloads gone; who is gone
// says [Gone]. It holds the columns that the decision is about ("slots") and copies a node
// from the cluster when it is first touched. An epoch tells this decision's copies from
// those of earlier ones, so that nothing is cleared between decisions. The zero value is
// ready for [View.Reset].
type View struct {
	Tree *quotatree.Tree
	// AtFirst is the usage with nobody gone.
	AtFirst quotatree.Usage

	columns []int   // of the slots; -1 for one that the cluster does not know
	slots   []int32 // by column: one more than its slot; 0 without
	rows    []int32 // by node: where its cells are
	epochs  []uint32
	epoch   uint32
	cells   []Cell // of the nodes that were touched, in turn
	changes []change
}

// Gone says who is gone: a view keeps the usage for each answer.
type Gone uint8

const (
	// Victims: those taken so far.
	Victims Gone = iota
	// InReach: everybody of permitted priority in the queues that can be reached.
	InReach
	// InNeed: everybody of permitted priority in the queues that borrow what is needed.
	InNeed
	Kinds // how many there are
)

// Cell is the quota and the usage of one node in one slot.
type Cell struct {
	quotatree.Cell
	first int64 // with nobody gone
	used  [Kinds]int64
}

// Used is what the node uses.
func (c *Cell) Used(gone Gone) int64 { return c.used[gone] }

// Reset makes the view one of a cluster, with nobody gone. It keeps the columns.
func (v *View) Reset(c *cluster.Cluster, columns []int) {
	v.Release()
	v.Tree, v.AtFirst, v.columns = c.Usage.Tree(), c.Usage, columns
	v.cells = v.cells[:0]
	if v.Tree.Len() > len(v.epochs) {
		v.epochs, v.rows = make([]uint32, v.Tree.Len()), make([]int32, v.Tree.Len())
		v.epoch = 0
	}
	if v.epoch++; v.epoch == 0 { // wrapped: old copies must not look like new ones
		clear(v.epochs)
		v.epoch = 1
	}
	for slot, column := range columns {
		if column >= len(v.slots) {
			v.slots = append(v.slots, make([]int32, column+1-len(v.slots))...)
		}
		if column >= 0 {
			v.slots[column] = int32(slot + 1)
		}
	}
}

// Release lets go of the cluster.
func (v *View) Release() {
	for _, column := range v.columns {
		if column >= 0 {
			v.slots[column] = 0
		}
	}
	v.Tree, v.AtFirst, v.columns = nil, quotatree.Usage{}, nil
}

// Slot returns the slot of a column; -1 without.
func (v *View) Slot(column int) int {
	if column >= len(v.slots) {
		return -1
	}
	return int(v.slots[column]) - 1
}

// Cells returns the cells of a node, one a slot. They may be read until something changes.
func (v *View) Cells(node int) []Cell {
	if v.epochs[node] != v.epoch {
		v.copyNode(node)
	}
	return v.cells[v.rows[node]:][:len(v.columns)]
}

func (v *View) copyNode(node int) {
	first := len(v.cells)
	v.epochs[node], v.rows[node] = v.epoch, int32(first)
	v.cells = slices.Grow(v.cells, len(v.columns))[:first+len(v.columns)]
	row := v.AtFirst.Row(node)
	for slot, column := range v.columns {
		c := &v.cells[first+slot]
		c.Cell, c.first = v.Tree.Cell(node, column), quotatree.AmountIn(row, column)
		for gone := range Kinds {
			c.used[gone] = c.first
		}
	}
}

// slotOf is one slot of a view.
type slotOf struct {
	view *View
	gone Gone
	slot int
}

// At returns the cell of a node and what it uses.
func (s slotOf) At(node int) (*quotatree.Cell, int64) {
	c := &s.view.Cells(node)[s.slot]
	return &c.Cell, c.used[s.gone]
}

// Available is what a node can still take, and the nearest node that bounds it; see
// [quotatree.Available].
func (v *View) Available(gone Gone, node, slot int) (amount int64, bound int) {
	return quotatree.Available(v.Tree, slotOf{v, gone, slot}, node)
}

// BorrowHeight is how high a queue borrows for an amount with the victims gone; see
// [quotatree.BorrowHeight].
func (v *View) BorrowHeight(queue, slot int, amount int64) int {
	height, _ := quotatree.BorrowHeight(v.Tree, slotOf{v, Victims, slot}, queue, amount)
	return height
}

// Potential is what a node could use if nothing ran anywhere.
func (v *View) Potential(node, slot int) int64 {
	return v.Tree.PotentialAvailable(node, v.columns[slot])
}

// WithinNominal reports whether a node borrows none of what is needed, with the victims
// gone.
func (v *View) WithinNominal(node int, needs []bool) bool {
	cells := v.Cells(node)
	for slot, needed := range needs {
		if needed && !cells[slot].WithinNominal(cells[slot].used[Victims]) {
			return false
		}
	}
	return true
}

// WithinNominalAtFirst is WithinNominal with nobody gone. It copies nothing.
func (v *View) WithinNominalAtFirst(node int, needs []bool) bool {
	row := v.AtFirst.Row(node)
	for slot, needed := range needs {
		if !needed {
			continue
		}
		column := v.columns[slot]
		if c := v.Tree.Cell(node, column); !c.WithinNominal(quotatree.AmountIn(row, column)) {
			return false
		}
	}
	return true
}

// Share returns the share of a node with the victims gone. All columns of its tree must
// have slots.
func (v *View) Share(node int) quota.Share {
	if v.epochs[node] != v.epoch {
		return v.AtFirst.Share(node).Share
	}
	cells := v.Cells(node)
	return v.Tree.Share(node, func(column int) int64 { return cells[v.slots[column]-1].used[Victims] }).Share
}
