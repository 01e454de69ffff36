package quota

import (
	"cmp"
	"math"

	"github.com/cedesched/cede/optional"
)

// WeightOf returns how much a node counts in fair sharing: its share is divided by it. None
// counts as 1. A weight of 0 is valid: such a node is the first to yield as soon as it
// borrows. One that is negative or not finite is refused where it is used.
func WeightOf(value float64) optional.Float64 { return optional.Of(value) }

// Share is the dominant resource share of a node: of the resource of which it borrows
// most, as a part of what its cohort could lend it. A root, and a node that borrows
// nothing, has the zero value but for the weight. (Facts of Kueue as built.)
type Share struct {
	// Ratio is what the node borrows of the dominant resource, over all flavors, for
	// each 1000 that its cohort could use of it if nothing ran anywhere.
	Ratio float64
	// Weight is the node's: the ratio is divided by it. See [WeightOf].
	Weight float64
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
