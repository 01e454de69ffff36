package exact

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/right"
)

// solution is an allowed set, by its places in the list of candidates.
type solution struct {
	borrowing bool
	values    [objectives]int64
	places    []int
}

// compare orders solutions: by the goals, then in documented order.
func (a *solution) compare(b *solution, goals []objective) int {
	for _, g := range goals {
		if a.values[g] != b.values[g] {
			if a.values[g] < b.values[g] {
				return -1
			}
			return 1
		}
	}
	return slices.Compare(a.places, b.places)
}

// placesOf returns the places of victims of the search in order, which mostly come in the
// order of the list; nil if one of them is not in it.
func (x *Solver) placesOf(greedy []right.Victim) (places []int) {
	from, whole := 0, false
	x.used = sized(x.used, len(x.list))
	clear(x.used)
	for i := range greedy {
		v := &greedy[i]
		if i == 0 || v.Workload != greedy[i-1].Workload { // replicas of one workload come together
			whole = right.GoesWhole(v.Workload, greedy)
		}
		if v.Partial() && whole {
			continue
		}
		at := -1
		for n := range x.list {
			i := from + n
			if i >= len(x.list) {
				i -= len(x.list)
			}
			if c := &x.list[i]; c.Workload == v.Workload && c.Set == v.Set && !x.used[i] {
				at = i
				break
			}
		}
		if at < 0 {
			return nil
		}
		places, from, x.used[at] = append(places, at), at+1, true
	}
	slices.Sort(places)
	return places
}

// known returns the units of victims that the search in order took, if they are allowed in
// the attempt that is open; else nil.
func (x *Solver) known(greedy []right.Victim) (chosen []int) {
	p := &x.problem
	places := x.placesOf(greedy)
	for _, place := range places {
		at, known := slices.BinarySearchFunc(p.units, place, func(u unit, place int) int { return u.place - place })
		if !known {
			return nil
		}
		chosen = append(chosen, at)
	}
	if len(chosen) == 0 {
		return nil
	}
	x.takeAll(chosen)
	allowed := p.s.Fits(p.mode()) && p.justified()
	p.fair.sides = p.fair.sides[:0]
	for i := range p.s.Taken {
		if side := p.s.Taken[i].Side; allowed && side >= 0 && !p.seen(side) {
			p.fair.sides = append(p.fair.sides, side)
			allowed = p.sideInOrder(side, -1)
		}
	}
	x.putAllBack(chosen)
	if !allowed {
		return nil
	}
	return chosen
}

func (x *Solver) takeAll(chosen []int) {
	for _, i := range chosen {
		x.problem.take(&x.problem.units[i])
	}
}

func (x *Solver) putAllBack(chosen []int) {
	for _, i := range slices.Backward(chosen) {
		x.problem.putBack(&x.problem.units[i])
	}
}

// solution describes a set of units.
func (x *Solver) solution(chosen []int) *solution {
	p := &x.problem
	s := &solution{borrowing: p.borrowing}
	for of := range objectives {
		s.values[of] = p.value(of, chosen)
	}
	for _, i := range chosen {
		s.places = append(s.places, p.units[i].place)
	}
	slices.Sort(s.places)
	return s
}

// apply takes a solution, in an order in which each victim may be taken: the own queue, then
// the levels from the nearest on, and each side in its own order.
func (x *Solver) apply(best *solution) {
	p := &x.problem
	p.borrowing = best.borrowing
	for _, place := range best.places {
		p.s.Take(x.list[place].Victim)
	}
	var order []right.Victim
	for level := -1; level < len(p.s.Levels); level++ {
		p.fair.sides = p.fair.sides[:0]
		for _, place := range best.places {
			c := &x.list[place]
			switch {
			case c.Level != level || p.seen(c.Side):
			case level < 0:
				order = append(order, c.Victim)
			default:
				p.fair.sides = append(p.fair.sides, c.Side)
				if !c.Fair || p.s.View.Share(p.s.Levels[level].Except).Compare(p.s.View.Share(c.Side)) <= 0 ||
					!p.justifiedOn(c.Side, p.s.View.Share(p.s.Levels[level].Except)) {
					p.sideInOrder(c.Side, -1)
				}
				for _, i := range slices.Backward(p.order) {
					order = append(order, p.s.Taken[i])
				}
			}
		}
	}
	p.s.Taken = append(p.s.Taken[:0], order...)
}
