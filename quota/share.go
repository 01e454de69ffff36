package quota

import (
	"cmp"
	"math"
	"slices"
)

// Share is the dominant resource share of a node: of the resource of which it borrows
// most, as a part of what its cohort could lend it. A root, and a node that borrows
// nothing, has the zero share but for the weight. (Facts of Kueue as built.)
type Share struct {
	// Ratio is what the node borrows of the dominant resource, over all flavors, for
	// each 1000 that its cohort could use of it if nothing ran anywhere.
	Ratio float64
	// Weight is the node's; see [Weight].
	Weight float64
	// Resource is the dominant resource, a number of [Tree]'s; the first by number of
	// those with the largest ratio; -1 without.
	Resource int
	// Borrows: the node uses more than its subtree quota of something that it has a quota
	// of, or a node below it. The ratio may be zero all the same, where nothing can be
	// lent.
	Borrows bool
}

// Weighted is the ratio over the weight; +Inf for a node of weight 0 with any ratio.
func (s Share) Weighted() float64 {
	switch {
	case s.Ratio == 0:
		return 0
	case s.Weight == 0:
		return math.Inf(1)
	}
	return s.Ratio / s.Weight
}

// Compare orders shares by weighted ratio, and those of weight 0 with any ratio above
// all others, among themselves by ratio.
func (s Share) Compare(o Share) int {
	if a, b := s.Weighted(), o.Weighted(); !math.IsInf(a, 1) || !math.IsInf(b, 1) {
		return cmp.Compare(a, b)
	}
	return cmp.Compare(s.Ratio, o.Ratio)
}

// Share returns the share of a node that uses so much of each column.
func (t *Tree) Share(node int, usage func(column int) int64) Share {
	s := Share{Weight: t.weights[node], Resource: -1}
	parent := t.Parent(node)
	if parent < 0 {
		return s
	}
	r := &t.rows[node]
	for i := 0; i < len(r.byResource); {
		resource, borrowed := t.resource(r.columns[r.byResource[i]]), int64(0)
		for ; i < len(r.byResource); i++ {
			j := r.byResource[i]
			if t.resource(r.columns[j]) != resource {
				break
			}
			borrowed = Add(borrowed, r.cells[j].Borrowed(usage(int(r.columns[j]))))
		}
		if borrowed == 0 {
			continue
		}
		s.Borrows = true
		if lendable := t.lendable[parent][resource]; lendable > 0 {
			ratio := float64(borrowed) * 1000 / float64(lendable) // this order, so that every platform rounds alike
			if ratio > s.Ratio {
				s.Ratio, s.Resource = ratio, resource
			}
		}
	}
	return s
}

func (t *Tree) resource(column int32) int { return t.resources[column] }

// sumLendable computes, for each cohort and resource, what it could use over all
// flavors that its root knows.
func (t *Tree) sumLendable() {
	count := 0
	for _, r := range t.resources {
		count = max(count, r+1)
	}
	t.lendable = make([][]int64, t.Len())
	for _, n := range t.topDown {
		node := int(n)
		if t.Height(node) == 0 {
			continue // nobody's parent
		}
		parent := t.Parent(node)
		unlimited := func(c Cell) bool { return c.BorrowingLimit == Unlimited && c.LocalQuota == 0 }
		if parent >= 0 && !slices.ContainsFunc(t.rows[node].cells, func(c Cell) bool { return !unlimited(c) }) {
			t.lendable[node] = t.lendable[parent] // it sees all that its parent does
			continue
		}
		root := node
		for t.Parent(root) >= 0 {
			root = t.Parent(root)
		}
		sums := make([]int64, count)
		for _, column := range t.rows[root].columns {
			r := t.resource(column)
			sums[r] = Add(sums[r], t.PotentialAvailable(node, int(column)))
		}
		t.lendable[node] = sums
	}
}
