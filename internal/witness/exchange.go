package witness

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/preemption"
)

// [preemption.BestSearch]: whom the best set has, and exchanges alone.

// BestSet returns the best allowed set of all, by points 1 to 5; empty if there is none, and false if there are more than a
// number of candidates.
func BestSet(c preemption.Config, st preemption.State, r preemption.Request, most int) (victims []preemption.Victim, small bool) {
	w, list := units(c, st, r)
	defer tell(w)
	if len(list) > most {
		return nil, false
	}
	list, greedy := w.inOrder(list, r.Now), w.search(r.Now)
	var best, kept []*candidate
	for _, mayBorrow := range attemptsOf(w, list) {
		for _, set := range w.allowed(list, mayBorrow) {
			best = better(w, best, set, list)
			if len(greedy) > 0 && keepsTo(w, set, greedy) {
				kept = better(w, kept, set, list)
			}
		}
	}
	if len(kept) > 0 {
		best = kept
	}
	return w.named(best), true
}

// better returns the better of two sets. The last point: "of two sets, the one with the earlier candidate where they differ
// first, both in the order of candidates".
func better(w *world, a, b, list []*candidate) []*candidate {
	if len(a) == 0 {
		return b
	}
	places := func(set []*candidate) (at []int) {
		for _, c := range set {
			at = append(at, slices.Index(list, c))
		}
		slices.Sort(at)
		return at
	}
	order := cmp.Or(w.value(a).Compare(w.value(b), w.config.Best.FewestFirst), slices.Compare(places(a), places(b)))
	if order <= 0 {
		return a
	}
	return b
}

// Exchange looks for what exchanges alone would still do to victims: "an exchange takes at most one candidate more and puts
// back one or two victims, if the set stays allowed and is better by points 1 to 4". worse: the victims are no allowed set, or
// come after Greedy's.
func Exchange(c preemption.Config, st preemption.State, r preemption.Request, victims []preemption.Victim, most int) (better []preemption.Victim, worse, small bool) {
	w, list := units(c, st, r)
	defer tell(w)
	if len(list) > most {
		return nil, false, false
	}
	first := c.Best.FewestFirst
	greedy, from := named(list, w.named(w.search(r.Now))), named(list, victims)
	for _, mayBorrow := range attemptsOf(w, list) {
		sets := w.allowed(list, mayBorrow)
		if !slices.ContainsFunc(sets, sameAs(greedy)) {
			continue // another attempt found it
		}
		worse = !slices.ContainsFunc(sets, sameAs(from)) || !keepsTo(w, from, greedy) || w.value(greedy).Compare(w.value(from), first) < 0
		for _, set := range sets {
			exchange := notIn(set, from) <= 1 && notIn(from, set) <= 2
			if exchange && keepsTo(w, set, greedy) && w.value(set).Compare(w.value(from), first) < 0 {
				return w.named(set), worse, true
			}
		}
		return nil, worse, true
	}
	return nil, !sameAs(greedy)(from), true
}

// notIn counts those of a set that another one lacks.
func notIn(set, other []*candidate) (n int) {
	for _, c := range set {
		if !slices.Contains(other, c) {
			n++
		}
	}
	return n
}

func sameAs(a []*candidate) func([]*candidate) bool {
	return func(b []*candidate) bool { return notIn(a, b)+notIn(b, a) == 0 }
}
