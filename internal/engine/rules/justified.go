package rules

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/queue/rules"
)

// Justified returns what must hold of the victims that remain when one is put back: each that only
// selectors with constraints on quota accepted is still accepted by one of these. Nil: there is
// no such victim.
func (t *Taker) Justified(s *search.Search) search.Justified {
	for i := range s.Taken {
		if t.isBound(&s.Taken[i]) {
			return func(v *right.Victim, others, needed []right.Victim) bool { return t.justified(s, v, others, needed) }
		}
	}
	return nil
}

// isBound reports whether a victim is one by constraints on quota alone.
func (t *Taker) isBound(v *right.Victim) bool { return v.ByRules && t.takings[v.Taking].bound }

// justified reports whether there is an order of the victims, all of them gone, in which each one by
// constraints is accepted with only those before it gone. There was one before the last was put back: the
// order in which they were taken.
//
// A victim below a common cohort on the preemptor's side only helps the constraints there; a victim on
// one side changes nothing on another. So no order is better than the own queue first, then from the
// nearest cohort to the farthest, and each side can be judged alone: only the sides that the victim put
// back has helped.
func (t *Taker) justified(s *search.Search, back *right.Victim, others, needed []right.Victim) bool {
	t.shares.change()
	inDoubt := func(v right.Victim) bool { return helps(s, back, v.Cohort) && t.isBound(&v) && !t.standsAnyway(s, &v) }
	if !slices.ContainsFunc(others, inDoubt) && !slices.ContainsFunc(needed, inDoubt) {
		return true
	}
	victims := s.Remaining(others, needed)
	t.judged.Next(s.View.Tree.Len())
	for i := range victims {
		if side := victims[i].Side; inDoubt(victims[i]) && t.judged.Add(side) && !t.justifiedOn(s, victims, side) {
			return false
		}
	}
	return true
}

// standsAnyway reports whether a victim is accepted whatever the preemptor's share is now: by Borrowing, or
// by the capacity, which still holds.
func (t *Taker) standsAnyway(s *search.Search, v *right.Victim) bool {
	by := t.takings[v.Taking].by
	return by.Meets(rules.Borrowing) || by.Meets(rules.BorrowingCapacityFromPreemptor) && t.hasCapacity(s, v.Cohort)
}

// justifiedOn is justified for the victims of one side. With fewer victims of a side taken, no other victim
// of it is refused. So victims without constraints come last, and before them each victim that may come
// after all the others.
func (t *Taker) justifiedOn(s *search.Search, victims []right.Victim, side int) bool {
	left, back := t.left[:0], t.back[:0]
	put := func(i int, times int64) {
		s.MoveQuota(&victims[i], times, victims)
		t.shares.change()
	}
	for i := range victims {
		switch v := &victims[i]; {
		case t.isBound(v) && v.Side == side:
			left = append(left, i)
		case isUnder(s, v.Queue, side):
			put(i, 1)
			back = append(back, i)
		}
	}
	for before := -1; before != len(left); {
		before = len(left)
		for n := len(left) - 1; n >= 0; n-- {
			i := left[n]
			if put(i, 1); t.stillAccepts(s, &victims[i], victims) {
				left, back = append(left[:n], left[n+1:]...), append(back, i)
			} else {
				put(i, -1)
			}
		}
	}
	for _, i := range back {
		put(i, -1)
	}
	t.left, t.back = left, back
	return len(left) == 0
}

// stillAccepts reports whether a selector that accepted a victim by a constraint does so now.
func (t *Taker) stillAccepts(s *search.Search, v *right.Victim, victims []right.Victim) bool {
	return t.takings[v.Taking].by&t.quotaOf(s, v, victims) != 0
}

func isUnder(s *search.Search, node, above int) bool {
	for node >= 0 && node != above {
		node = s.View.Tree.Parent(node)
	}
	return node == above
}
