// Package lagrange bounds the weight of a set of items that takes enough of several rows.
//
// The lightest set is hard to find; a bound of its weight is not. Each row has a multiplier, which is the price of
// what an item takes of it. For any multipliers that are not negative, every set that takes enough weighs at least
//
//	Σ multiplier × need + Σ min(0, reduced weight)
//
// where the reduced weight of an item is its weight less Σ multiplier × (what it takes of the row). What the set
// takes is worth at least the first sum. Each of its items also costs its reduced weight, and the second sum counts
// no more than that for it. A limit, a sum that a set must not exceed, is a row with negative amounts.
//
// A search asks for the bound of the sets that contain the items taken so far:
//
//	what is taken + Σ multiplier × (what the row is short of) + Σ min(0, reduced weight)
//
// with the last sum over the items not decided about. Of items that exclude each other only the cheaper side counts
// in these sums. The multipliers that make the bound large with nothing taken
// are found once, by steps along the slope; the bound then costs one sum at each node. Each product is converted to
// float64 before it is added: some machines else round product and sum in one step, and the search looks at other
// nodes there.
package lagrange

import (
	"math"
	"slices"
)

// Relaxation is the bound of one weight. The zero value has no items. A row is best given in units of what is needed,
// so that no item takes more than 1 of it: more does not help.
type Relaxation struct {
	Weights  []float64 // by item
	Takes    []float64 // by item and row; negative for limits
	Needs    []float64 // by row
	Multiply []float64 // by row
	// Either lists items that exclude each other: no set has the first of a list and another one of it.
	Either [][]int
	// Reduced, Root and Rest follow: Reduced, by item, from the multipliers of the last bound; Root is the bound by
	// Multiply; Rest, by position in an order of the items, is Σ min(0, reduced weight) from there on.
	Reduced []float64
	Root    float64
	Rest    []float64

	slope, trial []float64
	sides        []sides
	listed       []int // by item: the list of Either, or -1
}

// sides is Σ min(0, reduced weight) of the first item of a list in Either, and of all others.
type sides struct{ first, others float64 }

// stuckAfter is the number of steps without progress after which steps become half as long. Measured by
// BenchmarkExact of package preemption with 8 columns and 3,000 candidates, from Greedy's victims: with half of it no
// answer is proven.
const stuckAfter = 12

// Resize makes room for items and rows. The caller sets Weights, Takes and Needs then; the multipliers are zero.
func (r *Relaxation) Resize(items, rows int) {
	r.Weights, r.Reduced, r.Takes = sized(r.Weights, items), sized(r.Reduced, items), sized(r.Takes, items*rows)
	r.Needs, r.Multiply = sized(r.Needs, rows), sized(r.Multiply, rows)
	r.slope, r.trial = sized(r.slope, rows), sized(r.trial, rows)
	clear(r.Multiply)
	r.Either = nil
}

func sized[E any](list []E, n int) []E { return slices.Grow(list[:0], n)[:n] }

// Copy makes r a copy as far as a search needs it: without Takes and Needs.
func (r *Relaxation) Copy(o *Relaxation) {
	r.Weights, r.Reduced = append(r.Weights[:0], o.Weights...), append(r.Reduced[:0], o.Reduced...)
	r.Multiply, r.Root, r.Either = append(r.Multiply[:0], o.Multiply...), o.Root, o.Either
}

// Climb looks, from Multiply on, for multipliers with a large bound. most is the weight of a known set: the bound is
// to exceed the whole number below. It returns how many steps it took.
func (r *Relaxation) Climb(most float64, mostSteps int) (steps int) {
	all := 0.0
	for _, weight := range r.Weights {
		all += weight
	}
	most = min(most, all)
	copy(r.trial, r.Multiply)
	best, stuck, pace := math.Inf(-1), 0, 1.0
	for range mostSteps {
		steps++
		bound := r.Bound(r.trial)
		if bound > best {
			best, stuck = bound, 0
			copy(r.Multiply, r.trial)
		} else if stuck++; stuck == stuckAfter {
			pace, stuck = pace/2, 0
			copy(r.trial, r.Multiply)
			bound = r.Bound(r.trial)
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
	r.Root = r.Bound(r.Multiply)
	return steps
}

// Bound computes the bound with some multipliers, its slope and the reduced weights.
func (r *Relaxation) Bound(multiply []float64) (bound float64) {
	copy(r.slope, r.Needs)
	for j, m := range multiply {
		bound += float64(m * r.Needs[j])
	}
	for i, weight := range r.Weights {
		takes := r.Takes[i*len(multiply):][:len(multiply)]
		for j, t := range takes {
			weight -= float64(multiply[j] * t)
		}
		if r.Reduced[i] = weight; weight < 0 {
			bound += weight
			for j, t := range takes {
				r.slope[j] -= t
			}
		}
	}
	for _, list := range r.Either { // take the dearer side back
		of := sides{first: min(0, r.Reduced[list[0]])}
		for _, i := range list[1:] {
			of.others += min(0, r.Reduced[i])
		}
		back := list[:1]
		if of.first < of.others {
			back = list[1:]
		}
		for _, i := range back {
			if r.Reduced[i] < 0 {
				bound -= r.Reduced[i]
				for j, t := range r.Takes[i*len(multiply):][:len(multiply)] {
					r.slope[j] += t
				}
			}
		}
	}
	return bound
}

// Lowest returns Root as a whole number, at least 0.
func (r *Relaxation) Lowest() int64 {
	return max(0, int64(math.Ceil(r.Root-1e-6-float64(1e-9*math.Abs(r.Root)))))
}

// SumUp computes Rest for an order of the items.
func (r *Relaxation) SumUp(order []int) {
	r.Rest = sized(r.Rest, len(order)+1)
	r.Rest[len(order)] = 0
	r.listed, r.sides = sized(r.listed, len(r.Weights)), sized(r.sides, len(r.Either))
	for i := range r.listed {
		r.listed[i] = -1
	}
	for n, list := range r.Either {
		r.sides[n] = sides{}
		for _, i := range list {
			r.listed[i] = n
		}
	}
	for at := len(order) - 1; at >= 0; at-- {
		i := order[at]
		reduced := min(0, r.Reduced[i])
		if n := r.listed[i]; n >= 0 {
			of := &r.sides[n]
			before := min(of.first, of.others)
			if i == r.Either[n][0] {
				of.first = reduced
			} else {
				of.others += reduced
			}
			reduced = min(of.first, of.others) - before
		}
		r.Rest[at] = r.Rest[at+1] + reduced
	}
}

// Exceeds reports whether a bound that has Rest in it proves that the weight is larger than a limit. What floating
// point can be wrong by is far below the part in a thousand million that is granted here: a bound is a sum of less
// than a million products.
func (r *Relaxation) Exceeds(bound float64, limit int64) bool {
	return bound > float64(limit)+1e-6+float64(1e-9*max(float64(limit), -r.Rest[0]))
}
