package exact

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/quota"
)

// tree is the state of one branch and bound.
type tree struct {
	of     objective
	order  []int     // the units, in the order in which they are decided about
	sorted bool      // by reduced cost
	rest   []float64 // by position: Σ min(0, reduced cost) from there on
	cover  []int64   // by position and row: what the units from there on take
	chosen []int
	// A set is better if the objective is at most this.
	most    int64
	first   bool // the first set found will do
	found   bool
	stopped bool // the nodes are used up
	best    []int
	needs   []int64
}

// search looks for the best set: by an objective, with the multipliers in the relaxation. In
// documented order the first set that is found is the first of all.
func (x *Solver) search(of objective, most int64, inOrder, first bool) {
	p, t, r := &x.problem, &x.tree, &x.relaxation
	t.of, t.most, t.first, t.found, t.stopped = of, most, first, false, false
	t.sorted, t.chosen, t.order = !inOrder, t.chosen[:0], t.order[:0]
	for i := range p.units {
		t.order = append(t.order, i)
	}
	slices.SortFunc(t.order, func(a, b int) int {
		u, v := &p.units[a], &p.units[b]
		if inOrder {
			return cmp.Compare(u.place, v.place)
		}
		return cmp.Or(cmp.Compare(r.reduced[a], r.reduced[b]), cmp.Compare(u.kind, v.kind), cmp.Compare(u.place, v.place))
	})
	n, rows := len(t.order), len(p.rows)
	t.rest = sized(t.rest, n+1)
	t.rest[n] = 0
	t.cover = slices.Grow(t.cover[:0], (n+1)*rows)[:(n+1)*rows]
	clear(t.cover[n*rows:])
	for at := n - 1; at >= 0; at-- {
		i := t.order[at]
		t.rest[at] = t.rest[at+1] + min(0, r.reduced[i])
		for j := range p.rows {
			t.cover[at*rows+j] = quota.Add(t.cover[(at+1)*rows+j], p.helps(&p.units[i], &p.rows[j]))
		}
	}
	t.needs = t.needs[:0]
	x.branch(0, 0)
}

// tooMuch reports whether a bound proves that no set is good enough. What floating point can
// be wrong by is far below the part in a thousand million that is granted here: a bound is a
// sum of less than a million products.
func (t *tree) tooMuch(bound float64) bool {
	return t.most < noLimit && bound > float64(t.most)+1e-6+float64(1e-9*max(float64(t.most), -t.rest[0]))
}

// branch looks at all sets that contain the chosen units and others from a position on.
// weight is what the chosen ones add to the bound.
func (x *Solver) branch(from int, weight float64) {
	p, t := &x.problem, &x.tree
	if x.nodes++; x.nodes > x.maxNodes {
		t.stopped = true
		return
	}
	bound, short := x.bound(from, weight)
	if !short && x.complete() {
		return
	}
	base, rows := len(t.needs)-len(p.rows), len(p.rows)
	defer func() { t.needs = t.needs[:base] }()
	skipped := -1 // the kind that was decided against last
	for at := from; at < len(t.order); at++ {
		if t.tooMuch(bound) || x.uncovered(t.needs[base:], t.cover[at*rows:]) {
			return
		}
		i := t.order[at]
		u, reduced := &p.units[i], x.relaxation.reduced[i]
		if t.tooMuch(bound + max(0, reduced)) {
			if t.sorted {
				return
			}
			continue
		}
		if u.kind != skipped && !p.conflicts(u) && !p.full(u) && p.allow(&u.Victim) {
			p.take(u)
			t.chosen = append(t.chosen, i)
			if p.mayBeJustified(u) {
				x.branch(at+1, weight+x.relaxation.weights[i])
			}
			t.chosen = t.chosen[:len(t.chosen)-1]
			p.putBack(u)
			if t.stopped || t.found && t.first {
				return
			}
		}
		skipped = u.kind
		bound -= min(0, reduced)
	}
}

// bound returns the bound of the chosen units, and whether quota is short without them. It
// appends what the rows are short of to the needs.
func (x *Solver) bound(from int, weight float64) (bound float64, short bool) {
	p, t, r := &x.problem, &x.tree, &x.relaxation
	bound = weight + t.rest[from]
	for j := range p.rows {
		need := p.need(&p.rows[j])
		t.needs = append(t.needs, need)
		if need > 0 {
			short = true
			bound += float64(r.multiply[j] * min(1, float64(need)/float64(p.rows[j].need)))
		}
	}
	for j := range p.caps {
		m := r.multiply[r.rows+j]
		if m == 0 {
			continue
		}
		taken := 0.0
		for _, i := range t.chosen {
			if u := &p.units[i]; p.caps[j].holds(u.right, u.Workload.Priority) {
				taken += u.part
			}
		}
		bound -= float64(m * (float64(p.caps[j].most) - taken))
	}
	for j := range x.settled {
		m := r.multiply[r.rows+len(p.caps)+j]
		if m == 0 {
			continue
		}
		taken := 0.0
		for _, i := range t.chosen {
			taken += p.units[i].weight(x.settled[j].of)
		}
		bound -= float64(m * (float64(x.settled[j].value) - taken))
	}
	return bound, short
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
	if len(t.chosen) == 0 || !p.s.Fits(p.borrowing) || !p.justified() {
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
