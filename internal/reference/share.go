package reference

import (
	"cmp"

	"github.com/cedesched/cede/quota"
)

// Share is the dominant share of a node.
type Share struct {
	ratio   float64 // borrowed of the dominant resource, for each 1000 that could be lent
	weight  float64
	Borrows bool // it borrows anything, also what cannot be lent
}

// Share computes the share of a node: for each resource, what the node borrows in all flavors by what the members
// of its parent could use of it; the largest ratio counts.
func (n *Node) Share() Share {
	s := Share{weight: n.weight}
	if n.Parent == nil {
		return s
	}
	lendable, borrowed := n.Parent.lends(), make([]int64, n.tree.resources)
	for c, held := range n.held {
		if held {
			of := &borrowed[n.tree.resource[c]]
			*of = quota.Add(*of, max(0, quota.Sub(n.Used[c], n.Subtree[c])))
		}
	}
	for resource, amount := range borrowed {
		s.Borrows = s.Borrows || amount > 0
		if lendable[resource] > 0 {
			s.ratio = max(s.ratio, float64(amount)*1000/float64(lendable[resource]))
		}
	}
	return s
}

// lends returns what the members of a cohort could use together, by resource, of all that the tree has a quota for.
func (n *Node) lends() []int64 {
	if n.lendable == nil {
		n.lendable = make([]int64, n.tree.resources)
		for c, held := range n.root().held {
			if held {
				of := &n.lendable[n.tree.resource[c]]
				*of = quota.Add(*of, n.potential(Column(c)))
			}
		}
	}
	return n.lendable
}

// Compare orders shares by the ratio over the weight. Shares of weight zero with a ratio over zero come after all
// others, by their ratios.
func (s Share) Compare(o Share) int {
	last := func(s Share) bool { return s.weight == 0 && s.ratio > 0 }
	if last(s) || last(o) {
		return cmp.Or(first(last(o), last(s)), cmp.Compare(s.ratio, o.ratio))
	}
	weighted := func(s Share) float64 {
		if s.ratio == 0 {
			return 0
		}
		return s.ratio / s.weight
	}
	return cmp.Compare(weighted(s), weighted(o))
}
