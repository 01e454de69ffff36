package twin

import (
	"cmp"
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
	// Better are victims that one exchange makes of the victims and that are better; empty: none
	// are.
	Better []preemption.Victim
}

// Exchange tries every exchange of the victims, in the first attempt that allows Greedy's: one
// candidate more or none, and one or two victims less. The other arguments are those of Exhaust.
func Exchange(c preemption.Config, st preemption.State, r preemption.Request, greedy, victims []preemption.Victim, cost func(id, podSet string) int64, order []int) Exchanged {
	d := decide(st, r)
	d.config = c
	x, attempts := d.exhaust(cost, order)
	out := Exchanged{Candidates: x.answer.Candidates}
	if out.Candidates > MostExhausted {
		return out
	}
	for _, borrowing := range attempts {
		reached := x.reach(borrowing)
		from, of := x.setOf(victims), x.setOf(greedy)
		if !reached[of] || !x.fitsWithout(of, borrowing) {
			continue
		}
		_, out.Values = x.valuesOf(from)
		_, out.GreedyValues = x.valuesOf(of)
		out.Greedy, out.Worse = true, !x.capped(from, greedy) || x.compare(out.Values, out.GreedyValues) > 0 || !reached[from] || !x.fitsWithout(from, borrowing)
		for set := range reached {
			if !reached[set] || bits.OnesCount(uint(set&^from)) > 1 || bits.OnesCount(uint(from&^set)) > 2 || !x.capped(set, greedy) || !x.fitsWithout(set, borrowing) {
				continue
			}
			if chosen, values := x.valuesOf(set); x.compare(values, out.Values) < 0 {
				d.setGone(nil)
				out.Better = d.victims(chosen)
			}
		}
		break
	}
	return out
}

func (x *exhaustion) compare(a, b [5]int64) (order int) {
	for _, i := range x.order {
		order = cmp.Or(order, cmp.Compare(a[i], b[i]))
	}
	return order
}

// setOf returns victims as a set.
func (x *exhaustion) setOf(victims []preemption.Victim) (set int) {
	take := func(id string, podSet func(c candidate) bool, count int64) {
		for i := range x.all {
			if c := x.all[i]; count > 0 && c.w.ID == id && podSet(c) {
				set |= 1 << i
				count--
			}
		}
	}
	for _, v := range victims {
		if len(v.Replicas) == 0 {
			take(v.Workload, func(c candidate) bool { return c.podSet < 0 }, 1)
		}
		for _, r := range v.Replicas {
			take(v.Workload, func(c candidate) bool { return c.podSet >= 0 && c.w.PodSets[c.podSet].Name == r.PodSet }, r.Count-r.Leaving)
			if r.Leaving > 0 {
				take(v.Workload+leaving+r.PodSet, func(candidate) bool { return true }, 1)
			}
		}
	}
	return set
}
