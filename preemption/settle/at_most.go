package settle

import (
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// takeAtMost takes candidates one after the other, and passes over those that would take too much. Before at it takes none.
func (f *run) takeAtMost(step *Step, excess []quota.Amount, at time.Time) (took bool, err error) {
	if step.question, err = ask(f.seenBy(step), step.Node, excess, f.request, f.history, at); err != nil {
		return false, err
	}
	x := &sparing{run: f, step: step, excess: excess, free: step.question.Snapshot, refused: map[string]bool{}}
	for _, row := range statusOf(f.given, step.Node) {
		if row.Over > 0 {
			x.limits = append(x.limits, quota.Amount{Flavor: row.Flavor, Resource: row.Resource, Amount: quota.Sub(row.Usage, row.Over)})
		}
	}
	config := f.preemptor.Config()
	config.Search, config.Exchange, config.Exact = preemption.Greedy, preemption.ExchangeSearch{}, preemption.ExactSearch{}
	config.Guards = append(config.Guards, x)
	if x.whole, err = preemption.New(config); err != nil {
		return false, err
	}
	config.SkipRetryAt = true
	if x.now, err = preemption.New(config); err != nil {
		return false, err
	}
	if !at.After(f.now) {
		took = x.takeClosest()
	}
	for _, column := range excess {
		for !at.After(f.now) {
			d := x.ask(x.now, column)
			if d.Outcome != preemption.Preempt {
				break
			}
			one := []chosen{{Victim: d.Victims[slices.IndexFunc(d.Victims, func(v preemption.Victim) bool { return v.Order == 1 })]}}
			if !x.mayLose(one[0].Workload, removals(one)) {
				x.refused[one[0].Workload] = true
				continue
			}
			took = true
			x.take(one)
		}
	}
	x.conclude(at)
	return took, nil
}

// sparing is a guard: it keeps candidates that would take more than the excess, or a node below its own quota.
type sparing struct {
	*run
	step    *Step
	excess  []quota.Amount        // of the question
	now     *preemption.Preemptor // with the guard
	whole   *preemption.Preemptor // which says when, too
	free    *preemption.Snapshot  // of the question, without the victims so far
	limits  []quota.Amount        // what the node may use, where it is over, also if enough is leaving
	refused map[string]bool       // of which one replica is too much
}

// take takes victims.
func (x *sparing) take(victims []chosen) {
	list := make([]preemption.Victim, len(victims))
	for i := range victims {
		list[i] = victims[i].Victim
	}
	x.run.take(x.step, list)
	x.free, _ = x.free.With(removals(victims)...) // they run
}

// takeClosest takes, with the Exact search and where one column of a queue is over, the set that frees most without more than the
// excess. A set that frees at least an amount, and least of all such sets, is the answer to a request whose cost is what is freed; the
// largest amount for which that is no more than the excess is found by halving.
func (x *sparing) takeClosest() bool {
	config := x.run.preemptor.Config()
	if config.Search != preemption.Exact || x.step.Queue == "" || len(x.limits) > 1 {
		return false
	}
	most := x.excess[0]
	config.Cost, config.SkipRetryAt, config.Exact.IgnoreCaps = freed(most.FlavorResource()), true, true
	p, err := preemption.New(config)
	if err != nil {
		return false
	}
	var best []chosen
	for low, high := int64(0), most.Amount; low < high; {
		middle := high - (high-low)/2
		d, err := p.Decide(x.free, x.step.question.asking([]quota.Amount{{Flavor: most.Flavor, Resource: most.Resource, Amount: middle}}).Request)
		if err != nil || d.Outcome != preemption.Preempt || d.Lost > most.Amount {
			high = middle - 1
			continue
		}
		best, low = best[:0], d.Lost
		for _, v := range d.Victims {
			v.Lost = 0 // it was what is freed
			best = append(best, chosen{Victim: v})
		}
	}
	x.take(best)
	return len(best) > 0
}

// freed is the cost of a workload that is what it frees of a column.
type freed quota.FlavorResource

// Lost implements [preemption.Cost].
func (f freed) Lost(w workload.Workload, podSet string, _ time.Time) (sum int64) {
	for i := range w.PodSets {
		p := &w.PodSets[i]
		for _, a := range p.Requests {
			switch {
			case a.FlavorResource() != quota.FlavorResource(f):
			case podSet == "":
				sum = quota.Add(sum, p.Total(a.Amount))
			case podSet == p.Name:
				sum = quota.Add(sum, a.Amount)
			}
		}
	}
	return sum
}

// ask asks for the smallest amount of a column beside what left before.
func (x *sparing) ask(p *preemption.Preemptor, column quota.Amount) preemption.Decision {
	column.Amount = quota.Sub(column.Amount, amountIn(excessOf(x.left(), x.step.Node), column.FlavorResource())) + 1
	q := x.step.question.asking([]quota.Amount{column})
	q.Request.History = x.history
	d, _ := p.Decide(x.free, q.Request)
	return d
}

// Verdict implements [preemption.Guard].
func (x *sparing) Verdict(w workload.Workload, _ preemption.Request) preemption.Verdict {
	surplus := slices.ContainsFunc(w.PodSets, func(p workload.PodSet) bool { return p.Surplus() > 0 })
	if x.refused[w.ID] || !surplus && !x.mayLose(w.ID, []preemption.Edit{preemption.Remove(w.ID)}) {
		return preemption.NeverYields()
	}
	return preemption.MayYield()
}

// mayLose reports whether, after edits that remove a workload or replicas of it, the node still uses all that it may,
// and each node between that uses less than before still as much as its own quota, in what is over.
func (x *sparing) mayLose(id string, edits []preemption.Edit) bool {
	after, err := x.left().With(edits...)
	if err != nil {
		return false
	}
	w, _ := x.left().Find(id)
	columns := columnsOf(x.limits)
	for n, ok := (Node{Queue: w.Queue}), true; ok; n, ok = parent(x.left(), n) {
		was, is := statusOf(x.left(), n, columns...), statusOf(after, n, columns...)
		for _, fr := range columns {
			used, least := usedIn(is, fr), usedIn(is, fr).SubtreeQuota
			if n == x.step.Node {
				least = amountIn(x.limits, fr)
			}
			if used.Usage < usedIn(was, fr).Usage && used.Usage < least {
				return false
			}
		}
		if n == x.step.Node {
			break
		}
	}
	return true
}

func usedIn(rows []preemption.QuotaStatus, fr quota.FlavorResource) (row preemption.QuotaStatus) {
	if i := slices.IndexFunc(rows, func(r preemption.QuotaStatus) bool { return r.FlavorResource == fr }); i >= 0 {
		row = rows[i]
	}
	return row
}

// conclude says when more may leave, if something remains.
func (x *sparing) conclude(at time.Time) {
	x.step.Decision = preemption.Decision{Outcome: preemption.Preempt}
	var first time.Time
	for _, column := range x.excess {
		if amountIn(excessOf(x.left(), x.step.Node), column.FlavorResource()) == 0 {
			continue
		}
		d := x.ask(x.whole, column)
		if d.Outcome == preemption.Preempt {
			d.RetryAt = at
		}
		first = earlier(first, d.RetryAt)
		x.step.Decision = preemption.Decision{Outcome: preemption.Impossible, Blockers: d.Blockers, Shortage: d.Shortage}
	}
	if !first.IsZero() {
		x.step.Decision.Outcome, x.step.Decision.RetryAt = preemption.Wait, first
	}
}
