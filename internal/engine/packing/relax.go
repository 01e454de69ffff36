package packing

import "math"

// The bound of a node of the search is that of Lagrange, as in package exact. Each row of what
// has to be freed, and each limit that is settled, has a multiplier. For any multipliers that
// are not negative, every set that contains the taken items weighs at least
//
//	what is taken + Σ multiplier × (what the row is short of) + Σ min(0, reduced weight)
//
// with the last sum over the items not decided about. Each product is converted to float64
// before it is added: else some machines would round once for both, and look at other nodes.

// relaxation is the bound of one weight. A row is in units of what it is short of at first, so
// that no item takes more than 1 of it.
type relaxation struct {
	weights  []float64 // by item
	reduced  []float64
	rest     []float64 // by position in the order: Σ min(0, reduced) from there on
	all      int       // rows and settled limits
	takes    []float64 // by item and row, negative for limits
	needs    []float64 // by row
	multiply []float64
	root     float64

	slope, trial []float64
}

// productsPerNode is how many products take as long as a node of the search.
const productsPerNode = 32

// The number of steps along the slope, at most and for each item, and the number of steps
// without progress after which they become half as long.
const (
	slopeSteps   = 400
	stepsPerItem = 10
	stuckAfter   = 12
)

func sized[E any](list []E, n int) []E {
	if cap(list) < n {
		return make([]E, n)
	}
	list = list[:n]
	clear(list)
	return list
}

// setUp makes the bound of a weight, given the limits that are settled, with multipliers of zero.
func (r *relaxation) setUp(c *cover, weight []int64, settled []settled) {
	n, rows := len(c.items), len(c.needs)
	r.all = rows + len(settled)
	r.weights, r.reduced, r.takes = sized(r.weights, n), sized(r.reduced, n), sized(r.takes, n*r.all)
	r.needs, r.multiply = sized(r.needs, r.all), sized(r.multiply, r.all)
	r.slope, r.trial = sized(r.slope, r.all), sized(r.trial, r.all)
	for j := range c.needs {
		r.needs[j] = 1
	}
	for j := range settled {
		r.needs[rows+j] = -float64(settled[j].limit)
	}
	for i := range c.items {
		r.weights[i] = float64(weight[i])
		takes := r.takes[i*r.all:][:r.all]
		for j, need := range c.needs {
			takes[j] = float64(c.takes[i*rows+j]) / float64(need)
		}
		for j := range settled {
			takes[rows+j] = -float64(settled[j].weight[i])
		}
	}
	r.root = r.boundOf(r.multiply)
}

// climb looks for multipliers with a large bound. most is the weight of a known set. It returns
// how many steps it took.
func (r *relaxation) climb(most float64) (steps int) {
	best, stuck, pace := math.Inf(-1), 0, 1.0
	for range min(slopeSteps, stepsPerItem*len(r.weights)) {
		steps++
		bound := r.boundOf(r.trial)
		if bound > best {
			best, stuck = bound, 0
			copy(r.multiply, r.trial)
		} else if stuck++; stuck == stuckAfter {
			pace, stuck = pace/2, 0
			copy(r.trial, r.multiply)
			bound = r.boundOf(r.trial)
		}
		square := 0.0
		for j, g := range r.slope {
			if g > 0 || r.trial[j] > 0 {
				square += float64(g * g)
			}
		}
		if square < 1e-12 || best > most-0.999 { // no whole number is between
			break
		}
		step := pace * (most - 0.5 - bound) / square
		for j, g := range r.slope {
			r.trial[j] = max(0, r.trial[j]+float64(step*g))
		}
	}
	r.root = r.boundOf(r.multiply)
	return steps
}

// boundOf computes the bound with some multipliers, its slope and the reduced weights.
func (r *relaxation) boundOf(multiply []float64) (bound float64) {
	copy(r.slope, r.needs)
	for j, m := range multiply {
		bound += float64(m * r.needs[j])
	}
	for i, weight := range r.weights {
		takes := r.takes[i*r.all:][:r.all]
		for j, t := range takes {
			weight -= float64(multiply[j] * t)
		}
		if r.reduced[i] = weight; weight < 0 {
			bound += weight
			for j, t := range takes {
				r.slope[j] -= t
			}
		}
	}
	return bound
}

// lowest returns the bound of the root as a whole number.
func (r *relaxation) lowest() int64 {
	return max(0, int64(math.Ceil(r.root-1e-6-float64(1e-9*math.Abs(r.root)))))
}

// sumUp computes rest for an order of the items.
func (r *relaxation) sumUp(order []int) {
	r.rest = sized(r.rest, len(order)+1)
	for at := len(order) - 1; at >= 0; at-- {
		r.rest[at] = r.rest[at+1] + min(0, r.reduced[order[at]])
	}
}

// exceeds reports whether a bound proves that the weight is larger than a limit. What floating
// point can be wrong by is far below the part in a thousand million that is granted here.
func (r *relaxation) exceeds(bound float64, limit int64) bool {
	return bound > float64(limit)+1e-6+float64(1e-9*max(float64(limit), -r.rest[0], 1))
}
