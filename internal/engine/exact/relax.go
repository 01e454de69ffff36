package exact

import (
	"cmp"
	"math"
	"slices"
)

// The bound of a node of the search is that of Lagrange. Each row, and each cap, has a
// multiplier. For any multipliers that are not negative, every allowed set that contains the
// taken units costs at least
//
//	what is taken + Σ multiplier × (what the row is short of) + Σ min(0, reduced cost)
//
// with the sum over the units not decided about. The reduced cost of a unit is its cost less
// Σ multiplier × (what it takes of the row). The multipliers that make this large with
// nothing taken are found once, by steps along the slope; the bound then costs one sum at
// each node. Each product is converted to float64 before it is added: else some machines would
// round once for both, and look at other nodes.

// relaxation is the bound of one objective. A row is in units of what it is short of at
// first, so that no unit takes more than 1 of it: more does not help.
type relaxation struct {
	weights  []float64 // by unit: its part in the objective
	reduced  []float64 // by unit
	rows     int       // of quota; the caps and then the objectives that are settled follow
	all      int       // rows, caps and settled objectives
	takes    []float64 // by unit and row, negative for caps
	needs    []float64 // by row, with nobody gone
	multiply []float64
	root     float64

	slope, trial []float64
	byRatio      []int
}

// slopeSteps is the number of steps along the slope, and stuckAfter the number of steps
// without progress after which steps become half as long. Measured by BenchmarkExact with 8
// columns and 3,000 candidates, from Greedy's victims: with 400 steps half of the answers are
// proven, with 800 seven of eight; half the number of stuck steps proves none.
const (
	slopeSteps = 600
	stuckAfter = 12
)

// relax finds the multipliers for an objective, given those that are settled before it. most
// is the value of a known set: the bound is to exceed the whole number below.
func (x *Solver) relax(of objective, most float64) {
	p, r := &x.problem, &x.relaxation
	n := len(p.units)
	r.rows = len(p.rows)
	r.all = r.rows + len(p.caps) + len(x.settled)
	r.weights, r.reduced = sized(r.weights, n), sized(r.reduced, n)
	r.takes = sized(r.takes, n*r.all)
	r.needs, r.multiply = sized(r.needs, r.all), sized(r.multiply, r.all)
	r.slope, r.trial = sized(r.slope, r.all), sized(r.trial, r.all)
	for j := range r.needs {
		switch {
		case j < r.rows:
			r.needs[j] = 1
		case j < r.rows+len(p.caps):
			r.needs[j] = -float64(p.caps[j-r.rows].most)
		default:
			r.needs[j] = -float64(x.settled[j-r.rows-len(p.caps)].value)
		}
	}
	for i := range p.units {
		u := &p.units[i]
		r.weights[i] = u.weight(of)
		takes := r.takes[i*r.all:][:r.all]
		for j := range p.rows {
			takes[j] = min(1, float64(p.helps(u, &p.rows[j]))/float64(p.rows[j].need))
		}
		for j := range p.caps {
			takes[r.rows+j] = 0
			if p.caps[j].holds(u.right, u.Workload.Priority) {
				takes[r.rows+j] = -u.part
			}
		}
		for j := range x.settled {
			takes[r.rows+len(p.caps)+j] = 0 // a sum that saturates limits nothing
			if x.settled[j].value < noLimit {
				takes[r.rows+len(p.caps)+j] = -u.weight(x.settled[j].of)
			}
		}
	}
	r.climb(most)
}

func sized[E any](list []E, n int) []E { return slices.Grow(list[:0], n)[:n] }

// copy makes r a copy as far as a search needs it.
func (r *relaxation) copy(o *relaxation) {
	r.rows, r.all, r.root = o.rows, o.all, o.root
	r.weights, r.reduced = append(r.weights[:0], o.weights...), append(r.reduced[:0], o.reduced...)
	r.multiply = append(r.multiply[:0], o.multiply...)
}

// climb looks for multipliers with a large bound.
func (r *relaxation) climb(most float64) {
	clear(r.multiply)
	clear(r.trial)
	all := 0.0
	for _, weight := range r.weights {
		all += weight
	}
	most = min(most, all)
	if at, price := r.dearestRow(); at >= 0 {
		r.trial[at] = price
	}
	best, stuck, pace := math.Inf(-1), 0, 1.0
	for range slopeSteps {
		bound := r.boundOf(r.trial)
		if bound > best {
			best, stuck = bound, 0
			copy(r.multiply, r.trial)
		} else if stuck++; stuck == stuckAfter {
			pace, stuck = pace/2, 0
			copy(r.trial, r.multiply)
			r.boundOf(r.trial)
		}
		square := 0.0
		for j, g := range r.slope {
			if g < 0 && r.trial[j] == 0 {
				continue
			}
			square += float64(g * g)
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
}

// boundOf computes the bound with some multipliers, its slope and the reduced costs.
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

// dearestRow returns the row that alone costs most, and its price: what the last unit that it
// needs costs for what it takes, the cheapest taken first.
func (r *relaxation) dearestRow() (at int, price float64) {
	at = -1
	most := 0.0
	for j := range r.rows {
		list := r.byRatio[:0]
		for i := range r.weights {
			if r.takes[i*r.all+j] > 0 {
				list = append(list, i)
			}
		}
		r.byRatio = list
		slices.SortFunc(list, func(a, b int) int {
			return cmp.Or(cmp.Compare(r.weights[a]/r.takes[a*r.all+j], r.weights[b]/r.takes[b*r.all+j]), cmp.Compare(a, b))
		})
		left, cost := 1.0, 0.0
		for _, i := range list {
			takes := r.takes[i*r.all+j]
			part := min(1, left/takes)
			cost += float64(part * r.weights[i])
			if left -= takes; left <= 0 {
				if cost > most {
					at, most, price = j, cost, r.weights[i]/takes
				}
				break
			}
		}
	}
	return at, price
}

// withoutRows makes every bound the weight of what is taken.
func (x *Solver) withoutRows() {
	p, r := &x.problem, &x.relaxation
	r.rows, r.all = len(p.rows), len(p.rows)+len(p.caps)
	r.weights, r.multiply = sized(r.weights, len(p.units)), sized(r.multiply, r.all)
	clear(r.multiply)
	for i := range p.units {
		r.weights[i] = p.units[i].weight(victims)
	}
	r.reduced = append(r.reduced[:0], r.weights...)
	x.first.copy(r)
}
