package best

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

// placesOf returns the places of victims of the search in order, and how many of each are not in the list of
// candidates. Replicas of a workload that yields as a whole are part of it.
func (x *Solver) placesOf(greedy []right.Victim) (places []int, missing map[Unit]int) {
	missing = make(map[Unit]int, len(greedy))
	for _, partial := range [...]bool{false, true} {
		for i := range greedy {
			v := &greedy[i]
			if v.Partial() == partial && missing[Unit{x.problem.s.Cluster.Whole(v.Workload), -1}] == 0 {
				missing[Unit{v.Workload, v.Set}]++
			}
		}
	}
	for i := 0; i < len(x.list) && len(missing) > 0; i++ {
		u := Unit{x.list[i].Workload, x.list[i].Set}
		n := missing[u]
		if n == 0 {
			continue
		}
		if missing[u], places = n-1, append(places, i); n == 1 {
			delete(missing, u)
		}
	}
	return places, missing
}

// known returns the units of victims that the search in order took; nil: in the attempt that is open one of them
// may not yield.
func (x *Solver) known(greedy []right.Victim) (chosen []int) {
	places, missing := x.placesOf(greedy)
	if len(missing) > 0 {
		return nil
	}
	for _, place := range places {
		at, known := slices.BinarySearchFunc(x.problem.units, place, func(u unit, place int) int { return u.place - place })
		if !known {
			return nil
		}
		chosen = append(chosen, at)
	}
	return chosen
}

// allowed reports whether the request fits without the taken victims, and these have an order.
func (p *problem) allowed() bool {
	if !p.s.Fits(p.mode()) || !p.justified() {
		return false
	}
	p.fair.sides = p.fair.sides[:0]
	for i := range p.s.Taken {
		if side := p.s.Taken[i].Side; side >= 0 && !p.seen(side) {
			p.fair.sides = append(p.fair.sides, side)
			if !p.sideInOrder(side, -1) {
				return false
			}
		}
	}
	return true
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
