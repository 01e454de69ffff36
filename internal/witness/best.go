package witness

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// [preemption.BestSearch]: "the best allowed set", by a look at all sets.

// Value is what counts of a set of victims: "what they lose by Config.Cost", their number, "the workloads that
// yield as a whole, then the replicas of others; replicas that are leaving already do not count, but the
// fewest pod sets have some of them".
type Value struct{ Lost, Victims, Wholes, Replicas, Leaving int64 }

// Compare orders values by points 2 to 4; "FewestFirst puts the number of victims before what they lose".
func (v Value) Compare(o Value, fewestFirst bool) int {
	number := cmp.Compare(v.Victims, o.Victims)
	if !fewestFirst {
		number = cmp.Or(cmp.Compare(v.Lost, o.Lost), number)
	}
	return cmp.Or(number, cmp.Compare(v.Lost, o.Lost), cmp.Compare(v.Wholes, o.Wholes), cmp.Compare(v.Replicas, o.Replicas),
		cmp.Compare(v.Leaving, o.Leaving))
}

// Best returns the values of the best allowed set, and of the best one that has "no more victims of any
// priority and above than Greedy's, by each right"; nil if there is none, and false if there are more than a number
// of candidates.
func Best(c preemption.Config, st preemption.State, r preemption.Request, most int) (best, kept *Value, small bool) {
	w, list := units(c, st, r)
	defer tell(w)
	if len(list) > most {
		return nil, nil, false
	}
	greedy := w.search(r.Now)
	for _, mayBorrow := range attemptsOf(w, list) {
		for _, set := range w.allowed(list, mayBorrow) {
			v := w.value(set)
			best = least(best, v, c.Best.FewestFirst)
			if len(greedy) > 0 && keepsTo(w, set, greedy) {
				kept = least(kept, v, c.Best.FewestFirst)
			}
		}
	}
	return best, kept, true
}

// Allowed reports whether the victims of a decision are an allowed set, and whether some of them, or replicas of one,
// could stay; false if there are more than a number of candidates.
func Allowed(c preemption.Config, st preemption.State, r preemption.Request, victims []preemption.Victim, most int) (allowed, reducible, small bool) {
	w, list := units(c, st, r)
	defer tell(w)
	if len(list) > most {
		return false, false, false
	}
	set := named(list, victims)
	for _, mayBorrow := range attemptsOf(w, list) {
		for _, one := range w.allowed(list, mayBorrow) {
			inside := !slices.ContainsFunc(one, func(c *candidate) bool { return !slices.Contains(set, c) })
			allowed = allowed || inside && len(one) == len(set)
			reducible = reducible || inside && len(one) < len(set)
		}
	}
	return allowed, reducible, true
}

// units are the candidates of which sets are made.
func units(c preemption.Config, st preemption.State, r preemption.Request) (*world, []*candidate) {
	w := newWorld(c, st, r)
	w.assign(r.Now)
	w.ask()
	entitle(w)
	return w, append(w.cohortCandidates(r.Now), w.ownCandidates(r.Now)...)
}

// named are the candidates that a decision names as victims.
func named(list []*candidate, victims []preemption.Victim) (set []*candidate) {
	for _, v := range victims {
		for _, c := range list {
			if c.of.ID == v.Workload && c.isIn(&v) {
				set = append(set, c)
			}
		}
	}
	return set
}

func (c *candidate) isAmong(replicas []preemption.Replicas) bool {
	return c.podSet != whole && slices.ContainsFunc(replicas, func(p preemption.Replicas) bool {
		return p.PodSet == c.of.PodSets[c.podSet].Name && (c.leaving && p.Leaving > 0 || !c.leaving && c.nth < p.Count-p.Leaving)
	})
}

func least(old *Value, v Value, fewestFirst bool) *Value {
	if old != nil && old.Compare(v, fewestFirst) <= 0 {
		return old
	}
	return &v
}

// entitle notes whether the request stays within the nominal quota, for the reasons of candidates.
func entitle(w *world) {
	if w.config.Sharing == preemption.Classical {
		return
	}
	w.own.asking = w.asked
	w.entitled = w.newFairSearch(w.request.Now).withinNominal()
	w.own.asking = nil
}

func attemptsOf(w *world, list []*candidate) []bool {
	if w.config.Sharing != preemption.Classical {
		return []bool{true}
	}
	return w.attempts(list)
}

// allowed lists the allowed sets: "A set of candidates is allowed if the request fits without it and there is
// an order of removal in which each of them is permitted when only those before it are gone." Of a workload
// that yields as a whole no replicas are named besides.
func (w *world) allowed(list []*candidate, mayBorrow bool) (sets [][]*candidate) {
	ordered := ordered(w, list, mayBorrow)
	for mask := 1; mask < len(ordered); mask++ {
		set := chosen(list, mask)
		if ordered[mask] && !saysTwice(set) && stablePermits(w, set) && withinAllLimits(w, set) && fitsWithout(w, set, mayBorrow) {
			sets = append(sets, set)
		}
	}
	return sets
}

// chosen are the candidates of which the mask has the bit.
func chosen(list []*candidate, mask int) (set []*candidate) {
	for i, c := range list {
		if mask&(1<<i) != 0 {
			set = append(set, c)
		}
	}
	return set
}

// ordered says of each set, by its mask, whether there is such an order: one that ends with some candidate.
func ordered(w *world, list []*candidate, mayBorrow bool) []bool {
	ordered := make([]bool, 1<<len(list))
	ordered[0] = true
	for mask := range ordered {
		for i, c := range list {
			before := mask &^ (1 << i)
			if before != mask && !ordered[mask] && ordered[before] && permittedAfter(w, c, chosen(list, before), mayBorrow) {
				ordered[mask] = true
			}
		}
	}
	return ordered
}

// permittedAfter reports whether a candidate is permitted when others are gone.
func permittedAfter(w *world, c *candidate, gone []*candidate, mayBorrow bool) bool {
	for _, o := range gone {
		o.remove()
	}
	defer restore(gone)
	return permitted(w, c, mayBorrow, true)
}

// permitted: "one of the own queue always; one of another queue as long as its queue, and each cohort
// below the common one, still borrows something that needs preemption. In fair sharing they must still borrow
// anything and, unless the preemptor stays within its nominal quota, one of the strategies must hold at that
// step: a victim that justifies another one stays."
func permitted(w *world, c *candidate, mayBorrow, byStrategies bool) bool {
	switch {
	case c.class == ofOwn:
		return true
	case w.config.Sharing == preemption.Classical:
		return w.stillBorrows(c) && !(mayBorrow && c.notWhile)
	}
	return borrowsAnything(w, c.of.home, c.meet) && (!byStrategies || c.reason != preemption.InCohortFairSharing || justified(w, c))
}

// inAttempt is what an attempt permits, as a question about a candidate.
func inAttempt(w *world, mayBorrow, byStrategies bool) func(*candidate) bool {
	return func(c *candidate) bool { return permitted(w, c, mayBorrow, byStrategies) }
}

// justified reports whether a strategy permits a candidate.
func justified(w *world, c *candidate) bool {
	before := w.own.asking
	w.own.asking = w.asked
	defer func() { w.own.asking = before }()
	f := &fairSearch{world: w}
	return slices.ContainsFunc(strategies(w), func(s preemption.FairStrategy) bool { return f.permits(s, c) })
}

// outOfOrder looks for "an order of removal in which each of them is permitted when only those before it are gone". It
// returns those who have no place in it. All are removed before and after. The last of the order is found first: of those
// with the highest common cohort, for what leaves farther down only makes the preemptor's share smaller. Of a workload that
// yields as a whole no replicas yield besides.
func (w *world) outOfOrder(set []*candidate, permitted func(*candidate) bool) []*candidate {
	var left, last []*candidate
	for _, c := range set {
		if c.podSet != whole && c.of.gone {
			last = append(last, c)
			c.putBack()
		} else {
			left = append(left, c)
		}
	}
	slices.SortStableFunc(left, func(a, b *candidate) int { return cmp.Compare(a.depth(w.own), b.depth(w.own)) })
	for i := 0; i < len(left); i++ {
		c := left[i]
		c.putBack()
		if permitted(c) {
			left, last, i = without(left, i), append(last, c), -1
		} else {
			c.remove()
		}
	}
	for _, c := range last {
		c.remove()
	}
	return left
}

// depth is the number of cohorts above the one that joins a candidate and the preemptor's queue.
func (c *candidate) depth(own *node) (n int) {
	at := c.meet
	if c.class == ofOwn {
		at = own
	}
	for ; at != nil; at = at.parent {
		n++
	}
	return n
}

// borrowsAnything reports whether a queue, and each cohort above it that is below another, has a share.
func borrowsAnything(w *world, n, top *node) bool {
	return n == top || w.share(n).borrows && borrowsAnything(w, n.parent, top)
}

func saysTwice(set []*candidate) bool {
	for _, c := range set {
		for _, o := range set {
			if c.podSet == whole && o.of == c.of && o != c {
				return true
			}
		}
	}
	return false
}

func withinAllLimits(w *world, set []*candidate) bool {
	for i, c := range set {
		if !withinLimits(w, c, set[:i], w.request.Now) {
			return false
		}
	}
	return true
}

func fitsWithout(w *world, set []*candidate, mayBorrow bool) bool {
	for _, c := range set {
		c.remove()
	}
	defer restore(set)
	return w.fits(mayBorrow)
}

// value is what counts of a set.
func (w *world) value(set []*candidate) (v Value) {
	return ValueOf(w.config, w.request, w.named(set), func(id string) workload.Workload {
		return set[slices.IndexFunc(set, func(c *candidate) bool { return c.of.ID == id })].of.Workload
	})
}

// ValueOf is what counts of the victims of a decision. "By each of them a workload that is evicted already
// loses nothing", nor do replicas that were told to leave.
func ValueOf(c preemption.Config, r preemption.Request, victims []preemption.Victim, find func(id string) workload.Workload) (v Value) {
	lost := func(id, podSet string) int64 {
		if c.Cost == nil {
			return 0
		}
		return max(0, c.Cost.Lost(find(id), podSet, r.Now)) // "It is not negative."
	}
	for _, one := range victims {
		v.Victims++
		if len(one.Replicas) == 0 {
			v.Wholes++
			v.Lost = plus(v.Lost, lost(one.Workload, ""))
		}
		for _, p := range one.Replicas {
			v.Replicas += p.Count - p.Leaving
			v.Leaving += min(1, p.Leaving)
			v.Lost = plus(v.Lost, times(p.Count-p.Leaving, lost(one.Workload, p.PodSet)))
		}
	}
	return v
}

// keepsTo: "has no more victims of any priority and above than Greedy's, by each right".
func keepsTo(w *world, set, greedy []*candidate) bool {
	of := func(list []*candidate, like *candidate) (n int) {
		seen := map[*running]bool{}
		for _, c := range list {
			if c.reason == like.reason && comparePriority(c, like) >= 0 && !seen[c.of] {
				seen[c.of] = true
				n++
			}
		}
		return n
	}
	for _, c := range set {
		if of(set, c) > of(greedy, c) {
			return false
		}
	}
	return true
}
