package best

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/quota"
)

// exchanges is the state of the exchanges that improve a set. An exchange takes at most one
// candidate more and puts back one or two victims. It is made if the set stays allowed, keeps
// the caps and is better by the goals.
type exchanges struct {
	goals  []objective
	chosen []int  // the units of the set, as in search.Taken
	in     []bool // by unit: whether it is in the set
	values [objectives]int64
	frees  []int64 // by index of chosen and row: what the victim takes of the row
	slack  []int64 // by row: what the victims take beyond what is short
	left   []int64 // the slack after a part of an exchange
	// By row: the least that a victim takes of it, and two victims.
	least, leastOfTwo []int64
	// The most that a victim loses, and two victims.
	most, mostOfTwo int64
	outs            [2]int // the units that the last exchange put back, b's first
	looks           int
	spendable       int // the looks and moves of the problem at which it ends
}

// maxLooks limits the exchanges that are looked at, to about a millisecond; one that is tried
// counts as many as there are victims. Only sets of hundreds of victims come near the limit.
// What looks for orders meanwhile may look at victims so many times as often.
const maxLooks = 200_000

// noUnit stands for no unit, and for no index.
const noUnit = -1

// exchanger makes the exchanges of a solver.
type exchanger struct{ *Solver }

// exchanged improves a set by exchanges; nil: there is none, or it is not allowed. In fair sharing a victim that the
// search in order put back may have justified another one.
func (x *Solver) exchanged(goals []objective, chosen []int) []int {
	if len(chosen) == 0 {
		return nil
	}
	e := exchanger{x}
	e.prepare(goals)
	for _, i := range chosen {
		e.take(i)
	}
	allowed := x.problem.allowed()
	if allowed {
		e.improve()
	}
	chosen = slices.Clone(x.exchanges.chosen)
	if x.putAllBack(chosen); !allowed {
		return nil
	}
	return chosen
}

// rounded takes units by reduced cost until the request fits, and improves them by exchanges;
// nil: it never fits, or that costs too much.
func (x *Solver) rounded(goals []objective) (chosen []int) {
	p, e, exchanges := &x.problem, &x.exchanges, exchanger{x}
	exchanges.prepare(goals)
	for _, i := range x.byReducedCost() {
		if exchanges.spent() {
			break
		}
		if !exchanges.mayTake(i) {
			continue
		}
		exchanges.take(i)
		if p.s.Fits(p.mode()) && p.justified() {
			exchanges.improve()
			chosen = slices.Clone(e.chosen)
			break
		}
	}
	x.putAllBack(e.chosen)
	return chosen
}

// addMissing adds to the candidates the victims that do not come early enough to be listed, and
// before each of them its surplus.
func (x *Solver) addMissing() {
	s := x.problem.s
	_, missing := x.placesOf(x.greedy)
	for i := range x.greedy {
		v := &x.greedy[i]
		if missing[Unit{v.Workload, v.Set}] == 0 {
			continue
		}
		delete(missing, Unit{v.Workload, v.Set})
		for set := range v.Workload.Surplus {
			if v.Set < 0 || v.Set == set {
				x.list = source.AppendReplicas(&s.Case, x.list, v, set)
			}
		}
		if v.Set < 0 {
			x.list = append(x.list, source.CandidateOf(&s.Case, *v))
		}
	}
}

func (x exchanger) prepare(goals []objective) {
	e := &x.exchanges
	e.goals, e.looks, e.chosen = append(e.goals[:0], goals...), 0, e.chosen[:0]
	e.spendable = x.problem.moves + x.problem.looks + maxLooks*looksOfStep
	e.in = sized(e.in, len(x.problem.units))
	clear(e.in)
}

// spent reports whether exchanges have looked at as much as they may.
func (x exchanger) spent() bool {
	return x.exchanges.looks >= maxLooks || x.problem.moves+x.problem.looks >= x.exchanges.spendable
}

// improve makes exchanges, each time the best that one candidate permits, until there are no
// more.
func (x exchanger) improve() {
	p, e := &x.problem, &x.exchanges
	x.measure()
	x.settleDown()
	for again := true; again; {
		again = false
		for i := range p.units {
			if !e.in[i] && x.exchangeFor(i) {
				again = true
				x.notes()
				x.settleDown()
			}
		}
	}
}

// settleDown puts back victims that are not needed, and lets workloads give replicas only.
func (x exchanger) settleDown() {
	for x.exchangeFor(noUnit) || x.giveReplicas() {
		x.notes()
	}
	if x.spent() {
		x.putBackNeedless()
	}
}

// putBackNeedless puts back victims that are not needed, one by one.
func (x exchanger) putBackNeedless() {
	before := len(x.exchanges.chosen)
	for at := before - 1; at >= 0; at-- {
		x.try(noUnit, at, noUnit)
	}
	if len(x.exchanges.chosen) < before {
		x.measure()
		x.notes()
	}
}

// measure computes what follows from the set.
func (x exchanger) measure() {
	p, e := &x.problem, &x.exchanges
	clear(e.in)
	for _, i := range e.chosen {
		e.in[i] = true
	}
	e.values = x.values()
	e.frees, e.slack = e.frees[:0], e.slack[:0]
	for j := range p.rows {
		e.slack = append(e.slack, -p.rows[j].need)
	}
	for _, i := range e.chosen {
		for j := range p.rows {
			helps := p.helps(&p.units[i], &p.rows[j])
			e.frees = append(e.frees, helps)
			e.slack[j] = quota.Add(e.slack[j], helps)
		}
	}
	x.measureLeast()
}

// measureLeast computes what tells quickly that a unit is of no use.
func (x exchanger) measureLeast() {
	e, rows := &x.exchanges, len(x.problem.rows)
	e.left, e.least, e.leastOfTwo = sized(e.left, rows), sized(e.least, rows), sized(e.leastOfTwo, rows)
	for j := range rows {
		first, second := noLimit, noLimit
		for at := j; at < len(e.frees); at += rows {
			if f := e.frees[at]; f < first {
				first, second = f, first
			} else {
				second = min(second, f)
			}
		}
		e.least[j], e.leastOfTwo[j] = first, quota.Add(first, second)
	}
	if e.goals[0] != lost {
		return
	}
	first, second := int64(0), int64(0)
	for _, i := range e.chosen {
		if cost := x.problem.cost(&x.problem.units[i]); cost > first {
			first, second = cost, first
		} else {
			second = max(second, cost)
		}
	}
	e.most, e.mostOfTwo = first, quota.Add(first, second)
}

// uses reports whether an exchange that takes a unit, or noUnit, may make the set better by
// putting back one victim, and two.
func (x exchanger) uses(in int) (one, two bool) {
	p, e := &x.problem, &x.exchanges
	one, two = true, len(e.chosen) > 1
	for j := range p.rows {
		room := e.slack[j]
		if in != noUnit {
			room = quota.Add(room, p.helps(&p.units[in], &p.rows[j]))
		}
		if room < e.least[j] {
			return false, false
		}
		two = two && room >= e.leastOfTwo[j]
	}
	switch {
	case in == noUnit:
	case len(e.goals) == 1: // the number of victims
		one = false
	case e.goals[0] == lost:
		cost := p.cost(&p.units[in])
		one, two = cost <= e.most, two && cost <= e.mostOfTwo
	}
	return one, two
}

// exchangeFor makes the best exchange that takes a unit, or noUnit.
func (x exchanger) exchangeFor(in int) bool {
	e := &x.exchanges
	mayOne, mayTwo := x.uses(in)
	if !mayOne && !mayTwo {
		return false
	}
	best, one, two := e.values, noUnit, noUnit
	consider := func(a, b int) {
		if values := x.valuesAfter(in, a, b); x.lessBy(&values, &best) && x.try(in, a, b) {
			x.undo(in, a, b)
			best, one, two = values, a, b
		}
	}
	for a := 0; a < len(e.chosen) && !x.spent(); a++ {
		e.looks++
		if !x.leaves(in, a) {
			continue
		}
		if mayOne {
			consider(a, noUnit)
		}
		for b := a + 1; mayTwo && b < len(e.chosen) && !x.spent(); b++ {
			if e.looks++; x.alsoLeaves(b) {
				consider(a, b)
			}
		}
	}
	if one == noUnit {
		return false
	}
	x.try(in, one, two)
	x.measure()
	return true
}

// leaves reports whether all rows may be covered with one more unit and without the victim of
// an index. A sum that saturates covers.
func (x exchanger) leaves(in, out int) bool {
	p, e := &x.problem, &x.exchanges
	for j := range p.rows {
		left := e.slack[j]
		if in >= 0 {
			left = quota.Add(left, p.helps(&p.units[in], &p.rows[j]))
		}
		if left < noLimit {
			if left -= e.frees[out*len(p.rows)+j]; left < 0 {
				return false
			}
		}
		e.left[j] = left
	}
	return true
}

// alsoLeaves reports the same for one more victim.
func (x exchanger) alsoLeaves(out int) bool {
	e, rows := &x.exchanges, len(x.problem.rows)
	for j, left := range e.left {
		if left < e.frees[out*rows+j] && left < noLimit {
			return false
		}
	}
	return true
}

// try makes an exchange: b is greater than a, or noUnit. If the set is then not allowed, it
// undoes the exchange and returns false.
func (x exchanger) try(in, a, b int) bool {
	p, e := &x.problem, &x.exchanges
	before := p.moves
	defer func() { e.looks += p.moves - before }()
	e.looks += len(e.chosen)
	e.outs = [2]int{x.drop(b), x.drop(a)}
	allowed := in == noUnit || x.mayTake(in)
	if allowed && in != noUnit {
		x.take(in)
	}
	if allowed && p.s.Fits(p.mode()) && p.justified() {
		return true
	}
	if !allowed {
		in = noUnit
	}
	x.undo(in, a, b)
	return false
}

// mayTake reports whether a unit may be taken besides the set.
func (x exchanger) mayTake(in int) bool {
	p := &x.problem
	u := &p.units[in]
	return !p.conflicts(u) && !p.full(u) && p.allow(&u.Victim)
}

// undo undoes the exchange that was made last.
func (x exchanger) undo(in, a, b int) {
	e := &x.exchanges
	if in != noUnit {
		x.drop(len(e.chosen) - 1)
	}
	x.takeAt(a, e.outs[1])
	x.takeAt(b, e.outs[0])
}

// drop puts back the victim of an index, and returns its unit. The last victim takes its
// place.
func (x exchanger) drop(at int) (unit int) {
	if at == noUnit {
		return noUnit
	}
	p, e := &x.problem, &x.exchanges
	x.swap(at)
	last := len(e.chosen) - 1
	unit = e.chosen[last]
	e.chosen = e.chosen[:last]
	p.putBack(&p.units[unit])
	return unit
}

// takeAt takes back what drop put back.
func (x exchanger) takeAt(at, unit int) {
	if at != noUnit {
		x.take(unit)
		x.swap(at)
	}
}

func (x exchanger) take(unit int) {
	x.problem.take(&x.problem.units[unit])
	x.exchanges.chosen = append(x.exchanges.chosen, unit)
}

// swap swaps the victim of an index with the last one.
func (x exchanger) swap(at int) {
	chosen, taken := x.exchanges.chosen, x.problem.s.Taken
	last := len(chosen) - 1
	chosen[at], chosen[last] = chosen[last], chosen[at]
	taken[at], taken[last] = taken[last], taken[at]
}

// giveReplicas lets a workload that yields as a whole give replicas of its surplus, if that is
// enough and better.
func (x exchanger) giveReplicas() bool {
	p, e := &x.problem, &x.exchanges
	for at, i := range e.chosen {
		if p.units[i].excludes == 0 {
			continue
		}
		n, _ := slices.BinarySearchFunc(p.either, i, func(list []int, i int) int { return list[0] - i })
		x.drop(at)
		before := len(e.chosen)
		for _, j := range p.either[n][1:] {
			if e.looks++; x.spent() {
				break
			}
			if !x.mayTake(j) {
				continue
			}
			x.take(j)
			if p.s.Fits(p.mode()) && p.justified() {
				if values := x.values(); x.lessBy(&values, &e.values) {
					x.measure()
					return true
				}
				break
			}
		}
		for len(e.chosen) > before {
			x.drop(len(e.chosen) - 1)
		}
		x.takeAt(at, i)
	}
	return false
}
