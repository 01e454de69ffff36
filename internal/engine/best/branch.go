package best

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/engine/best/lagrange"
	"github.com/cedesched/cede/quota"
)

// tree is the state of one branch and bound.
type tree struct {
	of     objective
	order  []int // the units, in the order in which they are decided about
	sorted bool  // by reduced cost; units that exclude each other come together then
	lead   []int // by unit: of those that it comes together with, the unit of the least reduced cost
	// If another objective is looked for, the first goal must not exceed this.
	mostFirst int64
	cover     []int64 // by position and row: what the units from there on take
	chosen    []int
	// A set is better if the objective is at most this.
	most    int64
	first   bool // the first set found will do
	found   bool
	stopped bool // the steps are used up
	best    []int
	needs   []int64

	priced, pricedFirst priced // the latter by the first goal
}

// search looks for the set with the least objective, with the multipliers of the relaxation, among the sets with a
// first goal of at most a given value. In documented order the first set that it finds is the first of all.
func (x *Solver) search(of objective, most, mostFirst int64, inOrder, first bool) {
	p, t, r := &x.problem, &x.tree, &x.relaxation
	t.of, t.most, t.first, t.found, t.stopped = of, most, first, false, false
	t.sorted, t.chosen = !inOrder, t.chosen[:0]
	if !inOrder {
		x.byReducedCost()
	} else {
		t.order = t.order[:0]
		for i := range p.units { // they come in documented order
			t.order = append(t.order, i)
		}
	}
	n, rows := len(t.order), len(p.rows)
	r.SumUp(t.order)
	x.first.SumUp(t.order)
	t.mostFirst = mostFirst
	t.cover = slices.Grow(t.cover[:0], (n+1)*rows)[:(n+1)*rows]
	clear(t.cover[n*rows:])
	for at := n - 1; at >= 0; at-- {
		i := t.order[at]
		for j := range p.rows {
			t.cover[at*rows+j] = quota.Add(t.cover[(at+1)*rows+j], p.helps(&p.units[i], &p.rows[j]))
		}
	}
	t.needs = t.needs[:0]
	t.priced.set(p, r, x.settled)
	t.pricedFirst.set(p, &x.first, nil)
	x.branch(0, 0, 0)
}

// byReducedCost sorts the units by reduced cost. Units that exclude each other come where the first of them does, the
// whole workload before its replicas.
func (x *Solver) byReducedCost() []int {
	p, t, r := &x.problem, &x.tree, &x.relaxation
	t.order, t.lead = t.order[:0], sized(t.lead, len(p.units))
	for i := range p.units {
		t.order, t.lead[i] = append(t.order, i), i
	}
	for _, list := range p.either {
		least := slices.MinFunc(list, func(a, b int) int { return cmp.Compare(r.Reduced[a], r.Reduced[b]) })
		for _, i := range list {
			t.lead[i] = least
		}
	}
	slices.SortFunc(t.order, func(a, b int) int {
		u, v, l, m := &p.units[a], &p.units[b], t.lead[a], t.lead[b]
		if order := cmp.Or(cmp.Compare(r.Reduced[l], r.Reduced[m]), cmp.Compare(p.units[l].kind, p.units[m].kind)); order != 0 {
			return order
		}
		switch {
		case u.Partial() == v.Partial():
			return cmp.Or(cmp.Compare(r.Reduced[a], r.Reduced[b]), cmp.Compare(u.kind, v.kind), cmp.Compare(u.place, v.place))
		case u.Partial():
			return 1
		}
		return -1
	})
	return t.order
}

// tooMuch reports whether a bound proves that no set is good enough.
func (x *Solver) tooMuch(bound float64) bool {
	return x.tree.most < noLimit && x.relaxation.Exceeds(bound, x.tree.most)
}

// tooMuchFirst is tooMuch for the first goal.
func (x *Solver) tooMuchFirst(bound float64) bool {
	return x.tree.mostFirst < noLimit && x.first.Exceeds(bound, x.tree.mostFirst)
}

// branch looks at all sets that contain the chosen units and others from a position on.
// weight is what the chosen ones add to the bound, weightFirst to that of the first goal.
func (x *Solver) branch(from int, weight, weightFirst float64) {
	p, t := &x.problem, &x.tree
	if x.Steps() >= x.maxSteps {
		t.stopped = true
		return
	}
	x.nodes++
	short := x.shortage()
	if !short && x.complete() {
		return
	}
	base, baseFirst := weight-t.priced.granted+x.pressure(&x.relaxation), 0.0
	if t.mostFirst < noLimit {
		baseFirst = weightFirst - t.pricedFirst.granted + x.pressure(&x.first)
	}
	needs, rows := len(t.needs)-len(p.rows), len(p.rows)
	defer func() { t.needs = t.needs[:needs] }()
	skipped := -1 // the kind that was decided against last
	for at := from; at < len(t.order); at++ {
		i := t.order[at]
		u := &p.units[i]
		p.looks++
		if u.kind == skipped {
			continue
		}
		if x.tooMuch(base+x.relaxation.Rest[at]) || x.tooMuchFirst(baseFirst+x.first.Rest[at]) || x.uncovered(t.needs[needs:], t.cover[at*rows:]) {
			return
		}
		// What comes after the unit, or may come besides it.
		next := x.after(at)
		switch {
		case x.tooMuch(base + x.relaxation.Reduced[i] + x.relaxation.Rest[next]):
			if t.sorted && t.lead[i] == i && x.relaxation.Reduced[i] >= 0 {
				return
			}
		case t.mostFirst < noLimit && x.tooMuchFirst(baseFirst+x.first.Reduced[i]+x.first.Rest[next]):
		default:
			x.branchWith(i, next, weight, weightFirst)
			if t.stopped || t.found && t.first {
				return
			}
		}
		skipped = u.kind
	}
}

// after returns the position of the first unit that may be taken besides the one at a position and those before it.
func (x *Solver) after(at int) int {
	if x.tree.sorted {
		at += x.problem.units[x.tree.order[at]].excludes
	}
	return at + 1
}

// branchWith looks at all sets that contain the chosen units, another one, and others from a position on.
func (x *Solver) branchWith(i, next int, weight, weightFirst float64) {
	p, t := &x.problem, &x.tree
	u := &p.units[i]
	if p.conflicts(u) || p.full(u) || !p.allow(&u.Victim) {
		return
	}
	p.take(u)
	t.chosen = append(t.chosen, i)
	if p.mayBeJustified(u) {
		x.branch(next, weight+t.priced.units[i], weightFirst+t.pricedFirst.units[i])
	}
	t.chosen = t.chosen[:len(t.chosen)-1]
	p.putBack(u)
}

// shortage appends what the rows are short of without the chosen units to the needs, and
// reports whether any is.
func (x *Solver) shortage() (short bool) {
	p, t := &x.problem, &x.tree
	for j := range p.rows {
		need := p.need(&p.rows[j])
		t.needs = append(t.needs, need)
		short = short || need > 0
	}
	return short
}

// priced is what the bound counts of chosen units, with the multipliers of one relaxation.
type priced struct {
	units   []float64 // what each adds: its weight, and what it takes of limits and of settled objectives
	granted float64   // what the limits and the settled objectives take off
}

// set sets it for the units of a problem.
func (c *priced) set(p *problem, r *lagrange.Relaxation, settled []settled) {
	c.units, c.granted = append(c.units[:0], r.Weights...), 0
	for j := range p.caps {
		m := r.Multiply[len(p.rows)+j]
		if m == 0 {
			continue
		}
		c.granted += float64(m * float64(p.caps[j].most))
		for i := range p.units {
			if u := &p.units[i]; p.caps[j].holds(u) {
				c.units[i] += float64(m * u.part)
			}
		}
	}
	for j := range settled {
		m := r.Multiply[len(p.rows)+len(p.caps)+j]
		if m == 0 {
			continue
		}
		c.granted += float64(m * float64(settled[j].value))
		for i := range p.units {
			c.units[i] += float64(m * p.units[i].weight(settled[j].of))
		}
	}
}

// pressure returns what the multipliers add to the bound for what the rows are short of.
func (x *Solver) pressure(r *lagrange.Relaxation) (bound float64) {
	p, t := &x.problem, &x.tree
	for j, need := range t.needs[len(t.needs)-len(p.rows):] {
		if need > 0 {
			bound += float64(r.Multiply[j] * min(1, float64(need)/float64(p.rows[j].need)))
		}
	}
	return bound
}

// uncovered reports whether the units that are left do not take enough of some row.
func (x *Solver) uncovered(needs, cover []int64) bool {
	for j, need := range needs {
		if need > 0 && cover[j] < need {
			return true
		}
	}
	return false
}

// complete reports whether no further unit is needed: the request fits, by the rules of
// sharing. It keeps the set if it is good enough.
func (x *Solver) complete() bool {
	p, t := &x.problem, &x.tree
	if len(t.chosen) == 0 || !p.s.Fits(p.mode()) || !p.justified() {
		return false
	}
	value := p.value(t.of, t.chosen)
	if value > t.most {
		return true
	}
	for _, o := range x.settled {
		if p.value(o.of, t.chosen) > o.value {
			return true
		}
	}
	t.found, t.most = true, value-1
	t.best = append(t.best[:0], t.chosen...)
	return true
}
