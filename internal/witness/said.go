package witness

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Said is what is compared of two decisions about one request: the words do not say all of a refusal.
func Said(config preemption.Config, st preemption.State, r preemption.Request, d preemption.Decision) preemption.Decision {
	q := asked{config, st, r}
	c := preemption.Decision{
		Outcome: d.Outcome, Victims: d.Victims, Leaving: d.Leaving, RetryAt: d.RetryAt,
		Lost: d.Lost, Triggers: d.Triggers, RuleFaults: d.RuleFaults, Replaced: d.Replaced, Admitted: d.Admitted, Counts: d.Counts, NoRoom: d.NoRoom,
		Assignment: d.Assignment, BorrowHeight: d.BorrowHeight,
	}
	if flavorless := func(f preemption.FlavorChoice) bool { return f.Flavor == "" }; slices.ContainsFunc(d.Assignment, flavorless) {
		return c // nor what is short then
	}
	if q.Limits == nil { // whether limits count in a shortage, the words do not say
		c.Shortage = d.Shortage
	}
	// Which of several columns makes a queue a blocker, the words do not say, nor whether one of which the caller says that it
	// needs preemption; nor whom Stable sharing refuses by which rule.
	if q.NeedsPreemption == nil && q.Sharing != preemption.Stable && !d.Possible() && amounts(d.Assignment.Pin(q.Workload)) == 1 && q.Limits == nil && q.namesAllBlockers() {
		c.Blockers = q.blockers(d.Blockers)
	}
	return c
}

// namesAllBlockers reports whether no blocker is left out for another that is not compared.
func (q asked) namesAllBlockers() bool {
	most := cmp.Or(q.MaxBlockers, 4)
	return most < 0 || most >= len(q.Queues)+len(q.Cohorts)
}

// blockers leaves out those of whom the words do not say whether their leaving could make the request fit: in
// other queues, by the shares, where a cohort below another may keep to itself what its queues use.
func (q asked) blockers(list []preemption.Blocker) []preemption.Blocker {
	nested := func(co queue.Cohort) bool { return co.Parent != "" }
	if q.Sharing == preemption.Classical || !slices.ContainsFunc(q.Cohorts, nested) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(b preemption.Blocker) bool {
		return b.Queue != q.Workload.Queue
	})
}

// amounts counts the columns of which something is requested.
func amounts(w workload.Workload) (n int64) {
	for _, a := range w.Usage() {
		n += min(1, a.Amount)
	}
	return n
}

// asked is what a decision is about.
type asked struct {
	preemption.Config
	preemption.State
	preemption.Request
}
