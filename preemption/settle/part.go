package settle

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/least"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
)

// takeMost takes all of an excess if it may leave now, else as much as may; took: some may.
func (f *run) takeMost(step *Step, excess []quota.Amount) (took bool, err error) {
	if err := f.ask(step, excess, f.now); err != nil {
		return false, err
	}
	victims := step.Decision.Victims
	if step.Decision.Outcome != preemption.Preempt {
		victims = f.part(step.question, excess, step.Decision)
	}
	f.take(step, victims)
	return len(victims) > 0, nil
}

// conclude brings the decisions of the steps up to what remains in the end. What still may leave then is taken.
func (f *run) conclude() error {
	for i := 0; i < len(f.steps); i++ {
		step := &f.steps[i]
		rest := f.restOf(step)
		switch {
		case len(rest) == 0 && step.Decision.Outcome != preemption.Preempt:
			step.Decision = preemption.Decision{Outcome: preemption.Fits} // victims of other nodes suffice
		case len(rest) > 0:
			took, err := f.takeFor(step, rest)
			if err != nil {
				return err
			}
			if took {
				f.putBack()
				i = -1 // once more: the rest is less
			}
		}
	}
	return nil
}

// part returns the victims of as much of an excess as may leave now; none if nothing may. d is the answer about all
// of it.
func (f *run) part(q Question, excess []quota.Amount, d preemption.Decision) (victims []preemption.Victim) {
	part(excess, missing(d.Shortage), func(amounts []quota.Amount) (bool, []quota.Amount) {
		d := f.about(q, amounts)
		victims = d.Victims
		return d.Outcome == preemption.Preempt, missing(d.Shortage)
	})
	return victims
}

// about asks for other amounts. What can fail was asked before.
func (f *run) about(q Question, amounts []quota.Amount) preemption.Decision {
	q = q.asking(amounts)
	d, _ := f.preemptor.Decide(q.Snapshot, q.Request)
	return d
}

// missing returns what a decision is short of.
func missing(shortage []preemption.Shortage) (list []quota.Amount) {
	for _, s := range shortage {
		list = append(list, quota.Amount{Flavor: s.Flavor, Resource: s.Resource, Amount: s.Missing})
	}
	return list
}

// part asks for parts of an excess until one may leave; missing is what the answer about all of it is short of. The last
// question that is asked is the one that found something, if any did.
func part(excess, missing []quota.Amount, ask func([]quota.Amount) (found bool, missing []quota.Amount)) (found bool) {
	if less(excess, missing, ask) {
		return true
	}
	for i := 0; len(excess) > 1 && i < len(excess); i++ { // what none frees together, some may column by column
		found, missing := ask(excess[i : i+1])
		if found || less(excess[i:i+1], missing, ask) {
			return true
		}
	}
	return false
}

// less asks for less by what is missing, until that much may leave.
func less(excess, missing []quota.Amount, ask func([]quota.Amount) (bool, []quota.Amount)) (found bool) {
	for {
		rest := without(excess, missing)
		if len(rest) == 0 {
			return false
		}
		if slices.Equal(rest, excess) {
			break
		}
		excess = rest
		if found, missing = ask(excess); found {
			return true
		}
	}
	// What is short is not the quota: limits keep victims, for instance.
	most := slices.MaxFunc(excess, func(a, b quota.Amount) int { return cmp.Compare(a.Amount, b.Amount) }).Amount
	step, _, found := least.Step(most-1, func(step int64) (int64, bool) {
		found, _ := ask(scaled(excess, most-step, most))
		return step, found
	})
	if found {
		ask(scaled(excess, most-step, most)) // it may not be the last that was tried
	}
	return found
}

// without returns amounts less what is missing, without zeros.
func without(amounts, missing []quota.Amount) (list []quota.Amount) {
	for _, a := range amounts {
		a.Amount = quota.Sub(a.Amount, amountIn(missing, a.FlavorResource()))
		if a.Amount > 0 {
			list = append(list, a)
		}
	}
	return list
}

// scaled returns part/whole of amounts, rounded down, without zeros. No amount is larger than whole, and the largest becomes part.
func scaled(amounts []quota.Amount, part, whole int64) (list []quota.Amount) {
	for _, a := range amounts {
		hi, lo := bits.Mul64(uint64(a.Amount), uint64(part))
		scaled, _ := bits.Div64(hi, lo, uint64(whole))
		if a.Amount = int64(scaled); a.Amount > 0 {
			list = append(list, a)
		}
	}
	return list
}

// moreAt returns the first instant at which some of what remains of a step may leave; zero if there is none.
func (f *run) moreAt(step *Step) (first time.Time) {
	for _, a := range f.restOf(step) {
		a.Amount = 1
		d, at := f.about(step.question, []quota.Amount{a}), time.Time{}
		switch d.Outcome {
		case preemption.Wait:
			at = d.RetryAt
		case preemption.Preempt:
			at = step.question.Request.Now
		}
		first = earlier(first, at)
	}
	return first
}

// earlier returns the earlier of two times; zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
