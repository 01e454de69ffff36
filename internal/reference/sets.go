package reference

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
)

// MostExhausted is the largest number of candidates, replicas counted one by one, of which all sets are tried.
const MostExhausted = 12

// Exhausted is what all sets of candidates come to.
type Exhausted struct {
	// Candidates is their number. If it is over MostExhausted, nothing was tried.
	Candidates int
	// Victims is the best allowed set, sorted; empty: no set is allowed.
	Victims []preemption.Victim
	Values  [5]int64 // what is lost, workloads, whole workloads, replicas, pod sets of which some leave
	Fits    bool
	Allowed int // the number of allowed sets
}

// Exhaust tries every set of candidates with every order of removal. greedy, if not empty, are victims that may not be
// exceeded in number by right and priority; if no set keeps to that, it is dropped. order says which of Values count,
// the most important first.
func Exhaust(c preemption.Config, st preemption.State, r preemption.Request, greedy []preemption.Victim, cost func(id, podSet string) int64, order []int) Exhausted {
	q := New(c, st, r)
	fits := q.FitsNow() && !inactive(q.Queue)
	if fits || inactive(q.Queue) || r.Workload.NeverPreempts {
		return Exhausted{Fits: fits}
	}
	x := q.sets(cost, order)
	if x.answer.Candidates > MostExhausted {
		return x.answer
	}
	for _, caps := range [][]preemption.Victim{greedy, nil} {
		for _, borrowing := range q.Attempts(x.all) {
			for set, fits := range x.reach(borrowing) {
				if fits && x.capped(set, caps) {
					x.note(set)
				}
			}
		}
		if x.best >= 0 || len(greedy) == 0 {
			break
		}
	}
	if x.best >= 0 {
		x.answer.Victims, x.answer.Values = x.victims(x.best), x.values
	}
	return x.answer
}

// Exists reports whether some set of candidates is allowed; known is false if there are too many to try.
func (q *Question) Exists(mostTried int) (exists, known bool) {
	if q.Request.Workload.NeverPreempts {
		return false, true
	}
	x := q.sets(nil, nil)
	if len(x.all) > mostTried {
		return false, false
	}
	for _, borrowing := range q.Attempts(x.all) {
		for _, fits := range x.reach(borrowing) {
			exists = exists || fits
		}
	}
	return exists, true
}

// sets are all sets of candidates. The bit of a candidate is that of its index.
type sets struct {
	*Question
	all    []Candidate
	cost   func(id, podSet string) int64
	order  []int
	answer Exhausted
	best   int // -1: none
	values [5]int64
}

func (q *Question) sets(cost func(id, podSet string) int64, order []int) *sets {
	x := &sets{Question: q, all: q.Candidates(), cost: cost, order: order, best: -1}
	x.answer.Candidates = len(x.all)
	for i := range x.all {
		if x.all[i].Class != OwnQueue && q.fair() && !q.EntitledAtFirst {
			x.all[i].Reason = preemption.InCohortFairSharing
		}
	}
	return x
}

func (x *sets) of(set int) (list []Candidate) {
	for i, c := range x.all {
		if set>>i&1 == 1 {
			list = append(list, c)
		}
	}
	return list
}

// reach finds, in one attempt, the sets that can be taken in some order: a set can if it can without one of its
// members, and that one may then be taken. It says of each whether the request fits without it.
func (x *sets) reach(borrowing bool) map[int]bool {
	reached, fit := make([]bool, 1<<len(x.all)), map[int]bool{}
	reached[0] = true
	for set := range reached {
		if !reached[set] {
			continue
		}
		taken := x.of(set)
		x.Take(taken...)
		for i, c := range x.all {
			if next := set | 1<<i; next != set && !reached[next] && x.goesWith(i, set) && x.mayFollow(c, taken, borrowing) {
				reached[next] = true
			}
		}
		if set != 0 {
			fit[set] = x.Fits(borrowing)
		}
		x.Return(taken...)
	}
	return fit
}

// mayFollow reports whether a candidate may be taken after others.
func (x *sets) mayFollow(c Candidate, taken []Candidate, borrowing bool) bool {
	return x.MayBeTaken(c, borrowing) && !x.Limited(taken, c) && x.KeepsShares(taken, c) &&
		(c.Reason != preemption.InCohortFairSharing || x.Passes(c))
}

// goesWith reports whether a candidate goes with a set: replicas of a pod set come in order, and no part goes with its
// whole workload.
func (x *sets) goesWith(c, set int) bool {
	of := &x.all[c]
	for i := range x.all {
		o, taken := &x.all[i], set>>i&1 == 1
		switch {
		case o.ID != of.ID || i == c:
		case taken && !(o.Partial() && of.Partial()):
			return false
		case !taken && o.Same(*of) && i < c:
			return false
		}
	}
	return true
}

// capped reports whether a set has, by each right and from each priority on, no more victims than others.
func (x *sets) capped(set int, than []preemption.Victim) bool {
	if len(than) == 0 {
		return true
	}
	mine, priority := x.victims(set), map[string]int64{}
	for _, r := range x.Running {
		priority[r.ID] = r.EffectivePriority()
	}
	count := func(list []preemption.Victim, of preemption.Victim) (n int) {
		for _, v := range list {
			if v.Reason == of.Reason && priority[v.Workload] >= priority[of.Workload] {
				n++
			}
		}
		return n
	}
	return !slices.ContainsFunc(mine, func(v preemption.Victim) bool { return count(mine, v) > count(than, v) })
}

func (x *sets) victims(set int) []preemption.Victim {
	list := x.Victims(x.of(set))
	for i := range list {
		list[i].Order = 0
	}
	return list
}

// note keeps a set if it is the best so far: by the values, then by the first candidate in which they differ.
func (x *sets) note(set int) {
	x.answer.Allowed++
	values := x.valuesOf(set)
	if x.best < 0 || cmp.Or(x.compare(values, x.values), slices.Compare(placesOf(set), placesOf(x.best))) < 0 {
		x.best, x.values = set, values
	}
}

func placesOf(set int) (places []int) {
	for ; set != 0; set &= set - 1 {
		places = append(places, bits.TrailingZeros(uint(set)))
	}
	return places
}

// valuesOf returns the values of a set; see Exhausted.
func (x *sets) valuesOf(set int) (values [5]int64) {
	seen := map[string]bool{}
	for _, c := range x.of(set) {
		if !seen[c.ID] {
			seen[c.ID] = true
			values[1]++
		}
		name := ""
		switch {
		case c.PodSet >= 0:
			name = c.PodSets[c.PodSet].Name
			values[3]++
		case c.Leaving != "":
			values[4]++
			continue
		default:
			values[2]++
		}
		values[0] = quota.Add(values[0], x.cost(c.ID, name))
	}
	return values
}

func (x *sets) compare(a, b [5]int64) (order int) {
	for _, i := range x.order {
		order = cmp.Or(order, cmp.Compare(a[i], b[i]))
	}
	return order
}
