package quotatree

import (
	"slices"

	"github.com/cedesched/cede/quota"
)

// Share is the share of a node, with its dominant resource.
type Share struct {
	quota.Share
	// Resource is the number of the dominant resource: of those with the largest ratio the
	// first; -1 for a node that borrows nothing that can be lent.
	Resource int
}

// Share returns the share of a node with the given usage.
func (t *Tree) Share(node int, usage func(column int) int64) Share {
	s := Share{quota.Share{Weight: t.weights[node]}, -1}
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
			borrowed = quota.Add(borrowed, r.cells[j].Borrowed(usage(int(r.columns[j]))))
		}
		if borrowed == 0 {
			continue
		}
		s.Borrows = true
		if lendable := t.lendable[parent][resource]; lendable > 0 {
			ratio := float64(borrowed) * 1000 / float64(lendable) // in this order, so that every platform rounds in the same way
			if ratio > s.Ratio {
				s.Ratio, s.Resource = ratio, resource
			}
		}
	}
	return s
}

func (t *Tree) resource(column int32) int { return t.resources[column] }

// sumLendable computes, for each cohort and resource, what the cohort could use over all
// flavors that its root has quota for.
func (t *Tree) sumLendable() {
	count := 0
	for _, r := range t.resources {
		count = max(count, r+1)
	}
	t.lendable = make([][]int64, t.Len())
	for _, n := range t.topDown {
		node := int(n)
		if t.Height(node) == 0 {
			continue // a queue has no children
		}
		parent := t.Parent(node)
		unlimited := func(c Cell) bool { return c.BorrowingLimit == quota.Unlimited && c.LocalQuota == 0 }
		if parent >= 0 && !slices.ContainsFunc(t.rows[node].cells, func(c Cell) bool { return !unlimited(c) }) {
			t.lendable[node] = t.lendable[parent] // it can use all that its parent can
			continue
		}
		sums := make([]int64, count)
		for _, column := range t.rows[t.Root(node)].columns {
			r := t.resource(column)
			sums[r] = quota.Add(sums[r], t.PotentialAvailable(node, int(column)))
		}
		t.lendable[node] = sums
	}
}
