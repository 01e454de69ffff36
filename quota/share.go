package quota

import (
	"cmp"
	"math"
)

// WeightOf returns the weight of a node in fair sharing: its share is divided by it. Unset
// counts as 1. A weight of 0 is valid: such a node yields first as soon as it borrows.
// Validation refuses a weight that is negative or not finite.
func WeightOf(value float64) OptionalFloat64 { return Some(value) }

// Share is the dominant resource share of a node: for the resource of which the node borrows
// most, what it borrows divided by what its cohort could lend. A root, and a node that
// borrows nothing, has ratio 0. (As built in Kueue.)
type Share struct {
	// Ratio is what the node borrows of the dominant resource, over all flavors, per 1000
	// units that its cohort could use of it if nothing ran anywhere.
	Ratio float64
	// Weight is the weight of the node; see [WeightOf].
	Weight float64
	// Borrows says that in some column with quota the node, or a node below it, uses more
	// than its subtree quota. The ratio may still be zero, where nothing can be lent.
	Borrows bool
}

// Weighted returns the ratio divided by the weight; +Inf for weight 0 with a ratio over 0.
func (s Share) Weighted() float64 {
	switch {
	case s.Ratio == 0:
		return 0
	case s.Weight == 0:
		return math.Inf(1)
	}
	return s.Ratio / s.Weight
}

// Compare orders shares by weighted ratio. Shares of weight 0 with a ratio over 0 come after
// all others, ordered by ratio.
func (s Share) Compare(o Share) int {
	if a, b := s.Weighted(), o.Weighted(); !math.IsInf(a, 1) || !math.IsInf(b, 1) {
		return cmp.Compare(a, b)
	}
	return cmp.Compare(s.Ratio, o.Ratio)
}
