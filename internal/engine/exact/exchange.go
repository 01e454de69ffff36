package exact

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/search"
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
}

// maxLooks limits the exchanges that are looked at, to about a millisecond; one that is tried
// counts as many as there are victims. Only sets of hundreds of victims come near the limit.
const maxLooks = 200_000

// noUnit stands for no unit, and for no index.
const noUnit = -1

// exchanger makes the exchanges of a solver.
type exchanger struct{ *Solver }

// Exchange improves the victims by exchanges until none makes them better. It returns how, for
// explanations.
func (x *Solver) Exchange(s *search.Search) *History {
	x.problem.s, x.problem.moves = s, 0
	x.begins(s.Taken)
	history := x.history
	if s.Request.Better.Cost == nil && len(s.Taken) == 1 && (s.Taken[0].Partial() || !source.AnyPart(&s.Case)) {
		x.end()
		return history // nothing is better than one victim
	}
	x.greedy = append(x.greedy[:0], s.Taken...)
	s.PutAllBack()
	x.collect(s.Request.Better.MaxCandidates + 2*s.Tried)
	places := x.placesOf(x.greedy)
	if places == nil {
		x.addMissing()
		places = x.placesOf(x.greedy)
	}
	x.enter(s.Borrowing, x.capsOf(x.greedy))
	x.problem.findRows()
	if e := (exchanger{x}); e.start(places) && e.improve() {
		best := x.solution(x.exchanges.chosen)
		x.putAllBack(x.exchanges.chosen)
		x.apply(best)
	} else {
		x.restore()
	}
	clear(x.greedy)
	x.end()
	return history
}

// exchanged improves a set by exchanges; nil: there is none.
func (x *Solver) exchanged(goals []objective, chosen []int) []int {
	if len(chosen) == 0 {
		return nil
	}
	exchanger{x}.prepare(goals)
	for _, i := range chosen {
		exchanger{x}.take(i)
	}
	exchanger{x}.improve()
	chosen = slices.Clone(x.exchanges.chosen)
	x.putAllBack(chosen)
	return chosen
}

// rounded takes units by reduced cost until the request fits, and improves them by exchanges;
// nil: it never fits.
func (x *Solver) rounded(goals []objective) (chosen []int) {
	p, e := &x.problem, &x.exchanges
	exchanger{x}.prepare(goals)
	for _, i := range x.byReducedCost() {
		if !(exchanger{x}).mayTake(i) {
			continue
		}
		exchanger{x}.take(i)
		if p.s.Fits(p.mode()) && p.justified() {
			exchanger{x}.improve()
			chosen = slices.Clone(e.chosen)
			break
		}
	}
	x.putAllBack(e.chosen)
	return chosen
}

// restore takes the victims of the search in order again.
func (x *Solver) restore() {
	s := x.problem.s
	if len(s.Taken) == len(x.greedy) { // the same ones
		copy(s.Taken, x.greedy)
		return
	}
	x.putAllBack(x.exchanges.chosen)
	for i := range x.greedy {
		s.Take(x.greedy[i])
	}
}

// addMissing adds to the candidates the victims that do not come early enough to be listed, and
// before each of them its surplus.
func (x *Solver) addMissing() {
	s := x.problem.s
	for i := range x.greedy {
		v := &x.greedy[i]
		if slices.ContainsFunc(x.list, func(c source.Candidate) bool { return c.Workload == v.Workload && c.Set == v.Set }) {
			continue
		}
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

// start takes the units of the search in order. It reports whether they are allowed: in fair
// sharing a victim that was put back may have justified another one.
func (x exchanger) start(places []int) bool {
	p, e := &x.problem, &x.exchanges
	x.prepare(x.goals(e.goals[:0]))
	for _, place := range places {
		at, known := slices.BinarySearchFunc(p.units, place, func(u unit, place int) int { return u.place - place })
		if !known {
			return false
		}
		x.take(at)
	}
	return len(e.chosen) > 0 && p.s.Fits(p.mode()) && p.justified()
}

func (x exchanger) prepare(goals []objective) {
	e := &x.exchanges
	e.goals, e.looks, e.chosen = append(e.goals[:0], goals...), 0, e.chosen[:0]
	e.in = sized(e.in, len(x.problem.units))
	clear(e.in)
}

// improve makes exchanges, each time the best that one candidate permits, until there are no
// more. It reports whether it made one.
func (x exchanger) improve() (better bool) {
	p, e := &x.problem, &x.exchanges
	x.measure()
	better = x.settleDown()
	for again := true; again; {
		again = false
		for i := range p.units {
			if !e.in[i] && e.looks < maxLooks && x.exchangeFor(i) {
				again, better = true, true
				x.notes()
				x.settleDown()
			}
		}
	}
	return better
}

// settleDown puts back victims that are not needed, and lets workloads give replicas only.
func (x exchanger) settleDown() (better bool) {
	for x.exchangeFor(noUnit) || x.giveReplicas() {
		better = true
		x.notes()
	}
	return better
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
	for a := range e.chosen {
		e.looks++
		if !x.leaves(in, a) {
			continue
		}
		if mayOne {
			consider(a, noUnit)
		}
		for b := a + 1; mayTwo && b < len(e.chosen); b++ {
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
		n := p.units[i].elastic
		if n < 0 || p.units[i].Partial() {
			continue
		}
		x.drop(at)
		before := len(e.chosen)
		for j := range p.units {
			if u := &p.units[j]; u.elastic != n || !u.Partial() || !x.mayTake(j) {
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
