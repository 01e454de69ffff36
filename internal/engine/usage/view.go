// Package usage is the usage of a cluster without some of its workloads: the copy that a
// search changes.
package usage

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
)

// View is the usage of a cluster without some workloads, one usage for each value of [Gone].
// It has the columns of the decision ("slots"), and copies a node from the cluster when it is
// first used: of the slots that are asked for all that a search reads, of the others, which only shares read, the usage. An epoch separates this decision's copies from those of earlier ones, so
// nothing is cleared between decisions. The zero value is ready for [View.Reset].
type View struct {
	Tree *quotatree.Tree
	// AtFirst is the usage with all workloads.
	AtFirst quotatree.Usage
	// Copied counts the nodes copied, in all decisions so far.
	Copied int

	columns []int   // of the slots; -1 for a column that the cluster does not know
	asked   int     // the number of slots that are asked for, the first ones
	slots   []int32 // by column: 1 + its slot; 0: none
	rows    []int32 // by node: its place among the nodes used so far
	epochs  []uint32
	epoch   uint32
	used    int     // the number of nodes used so far
	cells   []Cell  // of these nodes, one after the other
	others  []int64 // their usage without the victims in the other slots
	changes []change
}

// Gone says which workloads are removed. A view keeps a usage for each value.
type Gone uint8

const (
	// Victims: the victims taken so far.
	Victims Gone = iota
	// InReach: all workloads of permitted priority in queues that can be reached.
	InReach
	// InNeed: all workloads of permitted priority in queues that borrow what needs
	// preemption.
	InNeed
	Kinds // the number of values
)

// Cell is the quota and the usage of one node in one slot.
type Cell struct {
	quotatree.Cell
	first int64 // with all workloads
	used  [Kinds]int64
}

// AtFirst returns the usage of the node with all workloads.
func (c *Cell) AtFirst() int64 { return c.first }

// Used returns the usage of the node.
func (c *Cell) Used(gone Gone) int64 { return c.used[gone] }

// Reset makes the view one of a cluster, with all workloads, of columns of which the first so many are asked for. It keeps columns.
func (v *View) Reset(c *cluster.Cluster, columns []int, asked int) {
	v.Release()
	v.Tree, v.AtFirst, v.columns, v.asked = c.Usage.Tree(), c.Usage, columns, asked
	v.used, v.cells, v.others = 0, v.cells[:0], v.others[:0]
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

// Release drops the references to the cluster.
func (v *View) Release() {
	for _, column := range v.columns {
		if column >= 0 {
			v.slots[column] = 0
		}
	}
	v.Tree, v.AtFirst, v.columns = nil, quotatree.Usage{}, nil
}

// Slot returns the slot of a column; -1: none.
func (v *View) Slot(column int) int {
	if column >= len(v.slots) {
		return -1
	}
	return int(v.slots[column]) - 1
}

// Cells returns the cells of a node, one for each slot that is asked for. They are valid until the next change.
func (v *View) Cells(node int) []Cell {
	if v.epochs[node] != v.epoch {
		v.copyNode(node)
	}
	return v.cells[int(v.rows[node])*v.asked:][:v.asked]
}

// othersOf returns the usage of a node in the other slots.
func (v *View) othersOf(node int) []int64 {
	if v.epochs[node] != v.epoch {
		v.copyNode(node)
	}
	n := len(v.columns) - v.asked
	return v.others[int(v.rows[node])*n:][:n]
}

func (v *View) copyNode(node int) {
	v.Copied++
	v.epochs[node], v.rows[node] = v.epoch, int32(v.used)
	v.used++
	row := quotatree.Reader{Loads: v.AtFirst.Row(node)}
	for _, column := range v.columns[:v.asked] {
		used := row.Amount(column)
		v.cells = append(v.cells, Cell{v.Tree.Cell(node, column), used, [Kinds]int64{used, used, used}})
	}
	others := v.columns[v.asked:]
	v.others = slices.Grow(v.others, len(others))
	for _, column := range others {
		v.others = append(v.others, row.Amount(column))
	}
}

// BorrowsWith reports whether a node, without the victims and with an amount more, borrows in a slot.
func (v *View) BorrowsWith(node, slot int, more int64) bool {
	c := v.Tree.Cell(node, v.columns[slot])
	return !c.WithinNominal(v.Used(node, slot) + more)
}

// slotOf is one slot of a view.
type slotOf struct {
	view *View
	gone Gone
	slot int
}

// At returns the cell and the usage of a node.
func (s slotOf) At(node int) (*quotatree.Cell, int64) {
	c := &s.view.Cells(node)[s.slot]
	return &c.Cell, c.used[s.gone]
}

// Available returns what a node can still take, and the nearest node that limits it; see
// [quotatree.Available].
func (v *View) Available(gone Gone, node, slot int) (amount int64, bound int) {
	return quotatree.Available(v.Tree, slotOf{v, gone, slot}, node)
}

// BorrowHeight returns how high a queue borrows for an amount without the victims; see
// [quotatree.BorrowHeight].
func (v *View) BorrowHeight(queue, slot int, amount int64) int {
	height, _ := quotatree.BorrowHeight(v.Tree, slotOf{v, Victims, slot}, queue, amount)
	return height
}

// Potential returns what a node could use if nothing ran anywhere.
func (v *View) Potential(node, slot int) int64 {
	return v.Tree.PotentialAvailable(node, v.columns[slot])
}

// WithinNominal reports whether, without the victims, a node borrows nothing of what needs
// preemption.
func (v *View) WithinNominal(node int, needs []bool) bool {
	if v.epochs[node] != v.epoch {
		return v.WithinNominalAtFirst(node, needs)
	}
	cells := v.Cells(node)
	for slot, needed := range needs {
		if needed && !cells[slot].WithinNominal(cells[slot].used[Victims]) {
			return false
		}
	}
	return true
}

// WithinNominalAtFirst is WithinNominal with all workloads. Neither copies anything.
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

// change is the change of one slot.
type change struct {
	slot int
	by   int64
}
