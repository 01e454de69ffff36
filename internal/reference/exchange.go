package reference

import (
	"math/bits"

	"github.com/cedesched/cede/preemption"
)

// Exchanged is what exchanges can do for victims.
type Exchanged struct {
	Candidates int // see Exhausted
	// Greedy: Greedy's victims have an order of removal with RecheckShares.
	Greedy bool
	// Values are those of the victims, GreedyValues those of Greedy's; see Exhausted.
	Values, GreedyValues [5]int64
	// Worse: the victims exceed the caps or come after Greedy's.
	Worse bool
	// Better are victims that one exchange makes of the victims and that are better; empty: none are.
	Better []preemption.Victim
}

// Exchange tries every exchange of the victims, in the first attempt that allows Greedy's: one candidate more or
// none, and one or two victims less. The other arguments are those of Exhaust.
func Exchange(c preemption.Config, st preemption.State, r preemption.Request, greedy, victims []preemption.Victim, cost func(id, podSet string) int64, order []int) Exchanged {
	q := New(c, st, r)
	x := q.sets(cost, order)
	out := Exchanged{Candidates: len(x.all)}
	if out.Candidates > MostExhausted {
		return out
	}
	for _, borrowing := range q.Attempts(x.all) {
		fits, from, of := x.reach(borrowing), x.setOf(victims), x.setOf(greedy)
		if !fits[of] {
			continue
		}
		out.Values, out.GreedyValues = x.valuesOf(from), x.valuesOf(of)
		out.Greedy, out.Worse = true, !x.capped(from, greedy) || x.compare(out.Values, out.GreedyValues) > 0 || !fits[from]
		for set := range 1 << len(x.all) {
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
	take := func(count int64, holds func(c *Candidate) bool) {
		for i := range x.all {
			if count > 0 && holds(&x.all[i]) {
				set |= 1 << i
				count--
			}
		}
	}
	for _, v := range victims {
		if len(v.Replicas) == 0 {
			take(1, func(c *Candidate) bool { return c.ID == v.Workload && !c.Partial() })
		}
		for _, r := range v.Replicas {
			take(r.Count-r.Leaving, func(c *Candidate) bool {
				return c.ID == v.Workload && c.PodSet >= 0 && c.PodSets[c.PodSet].Name == r.PodSet
			})
			take(min(1, r.Leaving), func(c *Candidate) bool { return c.ID == v.Workload && c.Leaving == r.PodSet })
		}
	}
	return set
}
