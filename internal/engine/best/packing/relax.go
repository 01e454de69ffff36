package packing

import "github.com/cedesched/cede/internal/engine/best/lagrange"

// productsPerNode is how many products take as long as a node of the search.
const productsPerNode = 32

// The number of steps along the slope, at most and for each item.
const (
	slopeSteps   = 400
	stepsPerItem = 10
)

func sized[E any](list []E, n int) []E {
	if cap(list) < n {
		return make([]E, n)
	}
	list = list[:n]
	clear(list)
	return list
}

// relax makes the bound of a weight, given the limits that are settled, with multipliers of zero. A row is what has
// to be freed, in units of that.
func (c *cover) relax(r *lagrange.Relaxation, weight []int64, settled []settled) {
	rows := len(c.needs)
	all := rows + len(settled)
	r.Resize(len(c.items), all)
	for j := range c.needs {
		r.Needs[j] = 1
	}
	for j := range settled {
		r.Needs[rows+j] = -float64(settled[j].limit)
	}
	for i := range c.items {
		r.Weights[i] = float64(weight[i])
		takes := r.Takes[i*all:][:all]
		for j, need := range c.needs {
			takes[j] = float64(c.takes[i*rows+j]) / float64(need)
		}
		for j := range settled {
			takes[rows+j] = -float64(settled[j].weight[i])
		}
	}
	r.Root = r.Bound(r.Multiply)
}
