package quotatree

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/persist/vector"
	"github.com/cedesched/cede/quota"
)

// Load is an amount in dense form. A list of loads is sorted by column, with one load for
// each.
type Load struct {
	Column int
	Amount int64
}

// Usage is the moving side of the arithmetic: what runs in each queue, carried up through the
// cohorts. A cohort carries the part of each child's usage that is over the child's local
// quota. A Usage is immutable; [Usage.Add] and [Usage.Remove] return a new one that shares
// all but the changed path. The zero value has no tree and no nodes.
type Usage struct {
	tree *Tree
	rows vector.Vector[*nodeUsage]
}

// nodeUsage is the usage of one node. It is immutable.
type nodeUsage struct {
	loads []Load // sorted by column, no zero amounts; in few where there is room
	few   [2]Load
	// The share without the weight:
	ratio    float64
	resource int32
	borrows  bool
}

// nodeUsage returns the usage of a node: the sum of a and b.
func (t *Tree) nodeUsage(node int, a, b []Load) *nodeUsage {
	n := new(nodeUsage)
	n.loads = merge(n.few[:0], a, b)
	s := t.Share(node, func(column int) int64 { return AmountIn(n.loads, column) })
	n.ratio, n.resource, n.borrows = s.Ratio, int32(s.Resource), s.Borrows
	return n
}

// UsageError says that a usage would leave [0, MaxUsage].
type UsageError struct {
	Node   int
	Column int
	Amount int64 // what was added or removed at the node
}

func (e *UsageError) Error() string {
	return fmt.Sprintf("quota: usage of node %d in column %d, changed by %d, is not within 0 and %d",
		e.Node, e.Column, e.Amount, quota.MaxUsage)
}

// NewUsage returns the usage of a tree; direct[node] is what runs in the queue at the node
// (nil: nothing). The result equals adding the lists one by one. It fails with a
// [*UsageError], or if there are more than [MaxCells] cells.
func NewUsage(t *Tree, direct [][]Load) (Usage, error) {
	rows, cells := make([][]Load, t.Len()), 0
	for node := range rows {
		if node >= len(direct) {
			break
		}
		rows[node] = direct[node]
		if cells += len(direct[node]) * (t.Depth(node) + 1); cells > MaxCells {
			return Usage{}, fmt.Errorf("quota: more than %d cells of usage (flavor-resources in use by the depth of their nodes)", MaxCells)
		}
	}
	for _, i := range slices.Backward(t.topDown) {
		node, parent := int(i), t.Parent(int(i))
		var past []Load
		for _, l := range rows[node] {
			if l.Amount < 0 || l.Amount > quota.MaxUsage {
				return Usage{}, &UsageError{node, l.Column, l.Amount}
			}
			c := t.Cell(node, l.Column)
			past = append(past, Load{l.Column, c.PastLocal(l.Amount)})
		}
		if parent >= 0 {
			rows[parent] = merge(nil, rows[parent], past)
		}
	}
	nodes := make([]*nodeUsage, len(rows))
	for node := range nodes {
		nodes[node] = t.nodeUsage(node, nil, rows[node])
	}
	return Usage{tree: t, rows: vector.Of(nodes)}, nil
}

// Tree returns the fixed side of the arithmetic.
func (u Usage) Tree() *Tree { return u.tree }

// Row returns the usage of the node by column, sorted, without zeros. Callers must not change
// it.
func (u Usage) Row(node int) []Load { return u.rows.At(node).loads }

// At returns the usage of the node in a column.
func (u Usage) At(node, column int) int64 { return AmountIn(u.Row(node), column) }

// AmountIn returns the amount of a column in a list of loads.
func AmountIn(loads []Load, column int) int64 {
	if i := indexOf(loads, column); i >= 0 {
		return loads[i].Amount
	}
	return 0
}

// Reader reads amounts of a list of loads, without a search if it is asked in rising order of columns. Of a list it is ready.
type Reader struct {
	Loads []Load
	next  int // all before it are of columns up to the one asked last
}

// Amount is [AmountIn] of the list.
func (r *Reader) Amount(column int) int64 {
	passed := r.next == 0 || r.Loads[r.next-1].Column < column
	if !passed || r.next < len(r.Loads) && r.Loads[r.next].Column < column {
		r.next, _ = slices.BinarySearchFunc(r.Loads, column, func(l Load, c int) int { return cmp.Compare(l.Column, c) })
	}
	if r.next == len(r.Loads) || r.Loads[r.next].Column != column {
		return 0
	}
	r.next++
	return r.Loads[r.next-1].Amount
}

// HasColumn reports whether a list has a load in a column, also with amount zero.
func HasColumn(loads []Load, column int) bool { return indexOf(loads, column) >= 0 }

// indexOf returns the index of a column in a list of loads; -1 if it is not there.
func indexOf(loads []Load, column int) int {
	if len(loads) == 0 {
		return -1
	}
	// Columns differ, so the index is at most the distance to the first one. Mostly it is just that: many lists have no gaps.
	last := min(column-loads[0].Column, len(loads)-1)
	if last < 0 {
		return -1
	}
	if at := loads[last].Column; at <= column {
		if at < column {
			return -1
		}
		return last
	}
	if i, ok := slices.BinarySearchFunc(loads[:last], column, func(l Load, c int) int { return cmp.Compare(l.Column, c) }); ok {
		return i
	}
	return -1
}

// Share returns the share of the node, which is stored.
func (u Usage) Share(node int) Share {
	n := u.rows.At(node)
	return Share{quota.Share{Ratio: n.ratio, Weight: u.tree.weights[node], Borrows: n.borrows}, int(n.resource)}
}

// Borrowed returns the usage of the node over its subtree quota.
func (u Usage) Borrowed(node, column int) int64 {
	c := u.tree.Cell(node, column)
	return c.Borrowed(u.At(node, column))
}

// Over returns what a node uses beyond its subtree quota and, below a parent, its borrowing limit; zero or
// less if it keeps within them.
func (u Usage) Over(node, column int) int64 {
	c := u.tree.Cell(node, column)
	most := c.SubtreeQuota
	if u.tree.Parent(node) >= 0 {
		most = quota.Add(most, c.BorrowingLimit)
	}
	return quota.Sub(u.At(node, column), most)
}

// Lent returns what others use of the quota that the node lends: the part of its lendable
// quota that it does not use and that the parent's usage needs. Never negative.
func (u Usage) Lent(node, column int) int64 {
	parent := u.tree.Parent(node)
	if parent < 0 {
		return 0
	}
	c, p := u.tree.Cell(node, column), u.tree.Cell(parent, column)
	past := c.PastLocal(u.At(node, column))
	idle := max(0, quota.Sub(c.Lendable, past))
	others := quota.Sub(p.SubtreeQuota, c.Lendable) // the parent's quota without this node
	return min(idle, max(0, quota.Sub(quota.Sub(u.At(parent, column), past), others)))
}

// Add returns the usage with loads added at the node and its ancestors. It fails with a
// [*UsageError].
func (u Usage) Add(node int, loads []Load) (Usage, error) { return u.change(node, loads, 1) }

// Remove is the inverse of [Usage.Add]. It fails with a [*UsageError] if the loads were not
// added before.
func (u Usage) Remove(node int, loads []Load) (Usage, error) { return u.change(node, loads, -1) }

func (u Usage) change(node int, loads []Load, sign int64) (Usage, error) {
	delta := make([]Load, 0, len(loads))
	for _, l := range loads {
		if l.Amount < 0 || l.Amount > quota.MaxUsage {
			return Usage{}, &UsageError{node, l.Column, l.Amount}
		}
		delta = append(delta, Load{l.Column, sign * l.Amount})
	}
	return u.Change(node, delta)
}

// Change returns the usage with a change of amounts, positive or negative, at the node and
// its ancestors. It fails with a [*UsageError]. It overwrites delta.
func (u Usage) Change(node int, delta []Load) (Usage, error) {
	var few [8]int // most trees are not deeper
	var fewRows [8]*nodeUsage
	nodes, rows := few[:0], fewRows[:0]
	for ; node >= 0 && len(delta) > 0; node = u.tree.Parent(node) {
		i, _ := slices.BinarySearch(nodes, node)
		nodes = slices.Insert(nodes, i, node)
		rows = slices.Insert(rows, i, u.tree.nodeUsage(node, u.Row(node), delta))
		past := delta[:0]
		for _, d := range delta {
			old := u.At(node, d.Column)
			now := old + d.Amount // both are within ±2^62
			if now < 0 || now > quota.MaxUsage {
				return Usage{}, &UsageError{node, d.Column, d.Amount}
			}
			c := u.tree.Cell(node, d.Column)
			if change := c.PastLocal(now) - c.PastLocal(old); change != 0 {
				past = append(past, Load{d.Column, change})
			}
		}
		delta = past
	}
	u.rows = u.rows.SetAll(nodes, rows)
	return u, nil
}

// AddLoads adds b to a in place; a is sorted by column and stays so. Zeros are kept.
func AddLoads(a, b []Load) []Load {
	if len(a) == 0 {
		return append(a, b...)
	}
	same := 0 // equal columns at the front: in most lists, all
	for same < len(b) && same < len(a) && a[same].Column == b[same].Column {
		a[same].Amount = quota.Add(a[same].Amount, b[same].Amount)
		same++
	}
	i, more := same, 0 // columns that a does not have
	for _, l := range b[same:] {
		for i < len(a) && a[i].Column < l.Column {
			i++
		}
		if i < len(a) && a[i].Column == l.Column {
			a[i].Amount = quota.Add(a[i].Amount, l.Amount)
		} else {
			more++
		}
	}
	i = len(a) - 1
	a = slices.Grow(a, more)[:len(a)+more]
	for j := len(b) - 1; more > 0; { // from behind: so many places are to fill
		switch {
		case i < 0 || a[i].Column < b[j].Column:
			more--
			a[i+1+more] = b[j]
			j--
		default:
			if a[i].Column == b[j].Column {
				j--
			}
			a[i+more] = a[i]
			i--
		}
	}
	return a
}

// merge appends the sum of two sorted lists, without zeros, to sum, which must be empty.
func merge(sum, a, b []Load) []Load {
	if most := max(len(a), len(b)); most > cap(sum) { // often one list has the columns of both
		sum = make([]Load, 0, most)
	}
	for len(a) > 0 || len(b) > 0 {
		var l Load
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Column < b[0].Column:
			l, a = a[0], a[1:]
		case len(a) == 0 || b[0].Column < a[0].Column:
			l, b = b[0], b[1:]
		default:
			l, a, b = Load{a[0].Column, quota.Add(a[0].Amount, b[0].Amount)}, a[1:], b[1:]
		}
		if l.Amount != 0 {
			sum = append(sum, l)
		}
	}
	return sum
}
