package quota

import (
	"cmp"
	"math"
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
