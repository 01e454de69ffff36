package quotatree

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/cedesched/cede/quota"
)

// Node describes one node to [NewTree].
type Node struct {
	// Parent is the index of the parent cohort; -1 for a root.
	Parent int
	// Quotas are the node's entries, at most one for each column, in any order.
	Quotas []Entry
	// Weight is the weight of the node in fair sharing.
	Weight quota.OptionalFloat64
}

// Entry is a quota in dense form. The caller numbers the columns.
type Entry struct {
	Column         int
	Nominal        int64
	BorrowingLimit quota.OptionalInt64
	LendingLimit   quota.OptionalInt64
}

// Tree is the fixed side of the arithmetic: parents and quotas. Nodes are the indexes of the
// slice given to [NewTree]. A Tree is immutable. The zero value is a tree without nodes.
type Tree struct {
	parents []int32
	depths  []int32
	heights []int32
	topDown []int32 // every parent is before its children
	rows    []row

	// For shares:
	weights   []float64
	resources []int     // by column
	lendable  [][]int64 // by cohort, then by resource
}

// row holds the cells of one node, sorted by column. Absent columns have NoCell. Rows are
// sparse: in a cluster with thousands of flavors a queue has few of them.
type row struct {
	columns    []int32
	cells      []Cell
	potential  []int64 // by index of columns; see PotentialAvailable
	byResource []int32 // indexes of columns, those of a resource together
}

// index returns the index of a column; -1: none. Most rows begin with columns 0, 1, 2.
func (r *row) index(column int) int {
	if uint(column) < uint(len(r.columns)) && int(r.columns[column]) == column {
		return column
	}
	if i, ok := slices.BinarySearch(r.columns, int32(column)); ok {
		return i
	}
	return -1
}

// MaxCells limits the cells of a tree, and those of a usage. An entry has a cell in its node
// and in every ancestor, so a small input that is deep and has many flavors could take all
// memory.
const MaxCells = 1 << 24

// NewTree builds the tree and computes subtree and local quotas bottom-up. resources holds,
// for each column, the number of its resource; nil: each column is a resource of its own. It
// fails on a parent out of range, a cycle, a negative amount, limit or weight, two entries of
// a node for one column, a column without resource, and more than [MaxCells] cells.
func NewTree(nodes []Node, resources []int) (*Tree, error) {
	t := &Tree{
		parents: make([]int32, len(nodes)),
		depths:  make([]int32, len(nodes)),
		heights: make([]int32, len(nodes)),
		rows:    make([]row, len(nodes)),
		weights: make([]float64, len(nodes)),
	}
	if err := t.setResources(nodes, resources); err != nil {
		return nil, err
	}
	for i, n := range nodes {
		if n.Parent < -1 || n.Parent >= len(nodes) {
			return nil, fmt.Errorf("quota: node %d: parent %d is not a node", i, n.Parent)
		}
		if w := n.Weight.Or(1); !(w >= 0) || math.IsInf(w, 1) {
			return nil, fmt.Errorf("quota: node %d: weight %v is negative or not finite", i, n.Weight)
		}
		t.parents[i] = int32(n.Parent)
		t.weights[i] = n.Weight.Or(1)
	}
	if err := t.sortTopDown(); err != nil {
		return nil, err
	}
	cells := 0
	for i, n := range nodes {
		if cells += len(n.Quotas) * (t.Depth(i) + 1); cells > MaxCells {
			return nil, fmt.Errorf("quota: more than %d cells (quota entries by the depth of their nodes)", MaxCells)
		}
	}
	lent := make([][]Load, len(nodes)) // what the children lend, by column
	var room []Load
	for _, i := range slices.Backward(t.topDown) {
		r, err := newRow(nodes[i].Quotas, lent[i])
		if err != nil {
			return nil, fmt.Errorf("quota: node %d: %w", i, err)
		}
		t.rows[i] = r
		p := t.parents[i]
		if p < 0 {
			continue
		}
		t.heights[p] = max(t.heights[p], t.heights[i]+1)
		room = room[:0]
		for j, column := range r.columns {
			room = append(room, Load{int(column), r.cells[j].Lendable})
		}
		lent[p] = AddLoads(lent[p], room)
		lent[i] = nil
	}
	for _, i := range t.topDown {
		t.rows[i].potential = t.potentialOf(int(i))
	}
	for i := range t.rows {
		r := &t.rows[i]
		r.byResource = make([]int32, len(r.columns))
		for j := range r.byResource {
			r.byResource[j] = int32(j)
		}
		slices.SortStableFunc(r.byResource, func(a, b int32) int {
			return cmp.Compare(t.resource(r.columns[a]), t.resource(r.columns[b]))
		})
	}
	t.sumLendable()
	return t, nil
}

func (t *Tree) setResources(nodes []Node, resources []int) error {
	columns := 0
	for _, n := range nodes {
		for _, e := range n.Quotas {
			columns = max(columns, e.Column+1)
		}
	}
	if resources == nil {
		for column := range columns {
			t.resources = append(t.resources, column)
		}
		return nil
	}
	t.resources = slices.Clone(resources)
	if columns > len(resources) {
		return fmt.Errorf("quota: column %d has no resource", columns-1)
	}
	for column, r := range resources {
		if r < 0 || r >= len(resources) {
			return fmt.Errorf("quota: resource %d of column %d is not within 0 and %d", r, column, len(resources)-1)
		}
	}
	return nil
}

func (t *Tree) sortTopDown() error {
	children := make([][]int32, len(t.parents))
	for i, p := range t.parents {
		if p < 0 {
			t.topDown = append(t.topDown, int32(i))
		} else {
			children[p] = append(children[p], int32(i))
		}
	}
	for k := 0; k < len(t.topDown); k++ {
		i := t.topDown[k]
		for _, child := range children[i] {
			t.depths[child] = t.depths[i] + 1
		}
		t.topDown = append(t.topDown, children[i]...)
	}
	if len(t.topDown) < len(t.parents) {
		reached := make([]bool, len(t.parents))
		for _, i := range t.topDown {
			reached[i] = true
		}
		return fmt.Errorf("quota: node %d: its ancestors are a cycle", slices.Index(reached, false))
	}
	return nil
}

// newRow returns the row of a node from its entries and from what its children lend, by
// column.
func newRow(entries []Entry, lent []Load) (row, error) {
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b Entry) int { return cmp.Compare(a.Column, b.Column) })
	for i, e := range sorted {
		borrowing, _ := e.BorrowingLimit.Get()
		lending, _ := e.LendingLimit.Get()
		switch {
		case i > 0 && sorted[i-1].Column == e.Column:
			return row{}, fmt.Errorf("column %d has two entries", e.Column)
		case e.Column < 0:
			return row{}, fmt.Errorf("column %d is negative", e.Column)
		case e.Nominal < 0, borrowing < 0, lending < 0:
			return row{}, fmt.Errorf("column %d: nominal %d, borrowing limit %v, lending limit %v: negative",
				e.Column, e.Nominal, e.BorrowingLimit, e.LendingLimit)
		}
	}
	most := max(len(sorted), len(lent)) // often one list has the columns of both
	r := row{columns: make([]int32, 0, most), cells: make([]Cell, 0, most)}
	for len(sorted) > 0 || len(lent) > 0 {
		var e Entry
		var fromBelow int64
		if len(lent) == 0 || len(sorted) > 0 && sorted[0].Column <= lent[0].Column {
			e, sorted = sorted[0], sorted[1:]
		} else {
			e.Column = lent[0].Column
		}
		if len(lent) > 0 && lent[0].Column == e.Column {
			fromBelow, lent = lent[0].Amount, lent[1:]
		}
		r.columns = append(r.columns, int32(e.Column))
		r.cells = append(r.cells, newCell(e.Nominal, fromBelow, e.BorrowingLimit, e.LendingLimit))
	}
	return r, nil
}

// Len returns the number of nodes.
func (t *Tree) Len() int { return len(t.parents) }

// Parent returns the index of the node's parent, or -1.
func (t *Tree) Parent(node int) int { return int(t.parents[node]) }

// Root returns the index of the root above the node.
func (t *Tree) Root(node int) int {
	for t.Parent(node) >= 0 {
		node = t.Parent(node)
	}
	return node
}

// Depth returns the number of ancestors of the node: 0 for a root.
func (t *Tree) Depth(node int) int { return int(t.depths[node]) }

// Height returns the length of the longest path down from the node: 0 for a queue and for a
// cohort without members.
func (t *Tree) Height(node int) int { return int(t.heights[node]) }

// EachColumn returns a sequence of the columns in which the node or its subtree has
// quota, in rising order.
func (t *Tree) EachColumn(node int) func(yield func(column int) bool) {
	return func(yield func(int) bool) {
		for _, c := range t.rows[node].columns {
			if !yield(int(c)) {
				return
			}
		}
	}
}

// Cell returns the numbers of a node in a column, or [NoCell] if it has none.
func (t *Tree) Cell(node, column int) Cell { return *t.cell(node, column) }

func (t *Tree) cell(node, column int) *Cell {
	r := &t.rows[node]
	if i := r.index(column); i >= 0 {
		return &r.cells[i]
	}
	return &NoCell
}

// PotentialAvailable returns what the node could use if nothing ran anywhere: for a root its
// subtree quota; else min(local quota + potential available of the parent, subtree quota +
// borrowing limit).
func (t *Tree) PotentialAvailable(node, column int) int64 {
	for ; node >= 0; node = t.Parent(node) { // without a cell it equals that of the parent
		r := &t.rows[node]
		if i := r.index(column); i >= 0 {
			return r.potential[i]
		}
	}
	return 0
}

// potentialOf computes the values for PotentialAvailable; those of the parent must exist.
func (t *Tree) potentialOf(node int) []int64 {
	r, parent := &t.rows[node], t.Parent(node)
	potential := make([]int64, len(r.columns))
	for i, column := range r.columns {
		c := &r.cells[i]
		potential[i] = c.SubtreeQuota
		if parent >= 0 {
			potential[i] = min(quota.Add(c.LocalQuota, t.PotentialAvailable(parent, int(column))), quota.Add(c.SubtreeQuota, c.BorrowingLimit))
		}
	}
	return potential
}
