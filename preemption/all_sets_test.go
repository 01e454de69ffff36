package preemption_test

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/cedesched/cede/internal/reference"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
)

// mostExhausted is the largest number of candidates, replicas counted one by one, of which all sets are tried.
const mostExhausted = 12

// exhausted is what all sets of candidates come to.
type exhausted struct {
	// Candidates is their number. If it is over mostExhausted, nothing was tried.
	Candidates int
	// Victims is the best allowed set, sorted; empty: no set is allowed.
	Victims []preemption.Victim
	Values  [5]int64 // what is lost, workloads, whole workloads, replicas, pod sets of which some leave
	Fits    bool
	Allowed int // the number of allowed sets
}

// exhaust tries every set of candidates with every order of removal. greedy, if not empty, are victims that may not be
// exceeded in number by right and priority; if no set keeps to that, it is dropped. order says which of Values count,
// the most important first.
func exhaust(c preemption.Config, st preemption.State, r preemption.Request, greedy []preemption.Victim, cost func(id, podSet string) int64, order []int) exhausted {
	q := reference.New(c, st, r)
	fits := q.FitsNow() && !q.Queue.Queue.Inactive
	if fits || q.Queue.Queue.Inactive || r.Workload.NeverPreempts {
		return exhausted{Fits: fits}
	}
	x := setsOf(q, cost, order)
	if x.answer.Candidates > mostExhausted {
		return x.answer
	}
	for _, caps := range [][]preemption.Victim{greedy, nil} {
		for _, borrowing := range q.Attempts(x.All) {
			for set, fits := range x.Reach(borrowing) {
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

// sets are all sets of candidates, with what counts.
type sets struct {
	*reference.Sets
	cost   func(id, podSet string) int64
	order  []int
	answer exhausted
	best   int // -1: none
	values [5]int64
}

func setsOf(q *reference.Question, cost func(id, podSet string) int64, order []int) *sets {
	x := &sets{Sets: q.Sets(), cost: cost, order: order, best: -1}
	x.answer.Candidates = len(x.All)
	return x
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
	list := x.Victims(x.Of(set))
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

// valuesOf returns the values of a set; see exhausted.
func (x *sets) valuesOf(set int) (values [5]int64) {
	seen := map[string]bool{}
	for _, c := range x.Of(set) {
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

// exchanged is what exchanges can do for victims.
type exchanged struct {
	Candidates int // see exhausted
	// Greedy: Greedy's victims have an order of removal, shares asked again.
	Greedy bool
	// Values are of the victims, GreedyValues of Greedy's; see exhausted.
	Values, GreedyValues [5]int64
	// Worse: the victims exceed the caps or come after Greedy's.
	Worse bool
	// Better are victims that one exchange makes of the victims and that are better; empty: none are.
	Better []preemption.Victim
}

// exchange tries every exchange of the victims, in the first attempt that allows Greedy's: one candidate more or
// none, and one or two victims less. The other arguments are as for exhaust.
func exchange(c preemption.Config, st preemption.State, r preemption.Request, greedy, victims []preemption.Victim, cost func(id, podSet string) int64, order []int) exchanged {
	q := reference.New(c, st, r)
	x := setsOf(q, cost, order)
	out := exchanged{Candidates: len(x.All)}
	if out.Candidates > mostExhausted {
		return out
	}
	for _, borrowing := range q.Attempts(x.All) {
		fits, from, of := x.Reach(borrowing), x.setOf(victims), x.setOf(greedy)
		if !fits[of] {
			continue
		}
		out.Values, out.GreedyValues = x.valuesOf(from), x.valuesOf(of)
		out.Greedy, out.Worse = true, !x.capped(from, greedy) || x.compare(out.Values, out.GreedyValues) > 0 || !fits[from]
		for set := range 1 << len(x.All) {
			more, less := bits.OnesCount(uint(set&^from)), bits.OnesCount(uint(from&^set))
			if fits[set] && more <= 1 && less <= 2 && x.compare(x.valuesOf(set), out.Values) < 0 && x.capped(set, greedy) {
				out.Better = x.victims(set)
			}
		}
		break
	}
	return out
}

// setOf returns victims as a set.
func (x *sets) setOf(victims []preemption.Victim) (set int) {
	take := func(count int64, holds func(c *reference.Candidate) bool) {
		for i := range x.All {
			if count > 0 && holds(&x.All[i]) {
				set |= 1 << i
				count--
			}
		}
	}
	for _, v := range victims {
		if len(v.Replicas) == 0 {
			take(1, func(c *reference.Candidate) bool { return c.ID == v.Workload && !c.Partial() })
		}
		for _, r := range v.Replicas {
			take(r.Count-r.Leaving, func(c *reference.Candidate) bool {
				return c.ID == v.Workload && c.PodSet >= 0 && c.PodSets[c.PodSet].Name == r.PodSet
			})
			take(min(1, r.Leaving), func(c *reference.Candidate) bool { return c.ID == v.Workload && c.Leaving == r.PodSet })
		}
	}
	return set
}
