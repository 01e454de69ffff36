// Package agree compares decisions of the engine with those of the witness. All laws that do so have one list of what
// is not compared. It is for tests.
package agree

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/witness"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Diff asks the witness about a state and a request, and returns both decisions, as far as they are compared, if that of the
// engine is another one. It is empty if both agree, or if a known disagreement holds, which it names.
func Diff(c preemption.Config, st preemption.State, r preemption.Request, engine preemption.Decision) (known, diff string) {
	q := question{c, st, r}
	mine, theirs := form(q.told(engine)), form(q.told(witness.Decide(c, st, r)))
	if mine == theirs {
		return "none", ""
	}
	for _, k := range knownDisagreements {
		if k.holds(q) {
			return k.name, ""
		}
	}
	return "", difference(mine, theirs)
}

// form is a decision as text: in JSON a list that is empty is none.
func form(d any) string {
	data, err := json.Marshal(d)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func difference(mine, theirs string) string {
	return fmt.Sprintf("- engine, + witness:\n- %s\n+ %s\n", mine, theirs)
}

// question is what both were asked.
type question struct {
	preemption.Config
	preemption.State
	preemption.Request
}

// knownDisagreements are those in which the engine is not what the words say, each with a predicate
// outside of which none is excused.
var knownDisagreements = []struct {
	name  string
	holds func(question) bool
}{
	{"not known to the witness", question.notKnown},
	{"constraints by rules while flavors are tried", question.constraintsOnTrial},
}

// notKnown: the witness does not decide by better searches than Greedy.
func (q question) notKnown() bool { return q.Search != preemption.Greedy }

// constraintsOnTrial: a flavor "is forecast (Preemptor.Forecast)", and the request is decided "with these flavors". By rules
// with constraints or keys about shares the engine answers otherwise than its own Forecast, or than with the flavors pinned:
// a flavor that was tried before counts there.
func (q question) constraintsOnTrial() bool {
	i := slices.IndexFunc(q.Queues, func(one queue.Queue) bool { return one.Name == q.Workload.Queue })
	flavorless := func(a quota.Amount) bool { return a.Flavor == "" }
	return slices.ContainsFunc(q.Workload.Usage(), flavorless) && slices.ContainsFunc(q.Rules, func(c rules.Config) bool {
		byShares := func(o rules.Ordering) bool { return o.Key.OfShares() }
		constrained := func(s rules.CandidateSelector) bool { return s.Quota != "" }
		return c.Name == q.Queues[i].Rules && (slices.ContainsFunc(c.Ordering, byShares) ||
			slices.ContainsFunc(c.Rules, func(r rules.Rule) bool { return slices.ContainsFunc(r.CandidateSelectors, constrained) }))
	})
}

// told is what both say of a decision.
func (q question) told(d preemption.Decision) preemption.Decision {
	c := preemption.Decision{
		Outcome: d.Outcome, Victims: d.Victims, Leaving: d.Leaving, RetryAt: d.RetryAt,
		Lost: d.Lost, Triggers: d.Triggers, RuleFaults: d.RuleFaults, Replaced: d.Replaced, Admitted: d.Admitted, Counts: d.Counts, NoRoom: d.NoRoom,
		Assignment: d.Assignment, BorrowHeight: d.BorrowHeight,
	}
	if flavorless := func(f preemption.FlavorChoice) bool { return f.Flavor == "" }; slices.ContainsFunc(d.Assignment, flavorless) {
		return c // nor what is short then
	}
	if q.Limits == nil && !q.neverByRules(d) { // whether limits count in a shortage, the words do not say
		c.Shortage = d.Shortage
	}
	// Which of several columns makes a queue a blocker, the words do not say, nor whom Stable sharing refuses by which rule.
	if q.Sharing != preemption.Stable && !d.Possible() && amounts(d.Assignment.Pin(q.Workload)) == 1 && q.Limits == nil && q.namesAllBlockers() {
		c.Blockers = q.blockers(d.Blockers)
	}
	return c
}

// neverByRules reports whether rules alone decide about a request for more than could ever be available. "By rules alone 1
// and 2 are all workloads where the scope of some selector reaches"; the engine leaves them where they are then.
func (q question) neverByRules(d preemption.Decision) bool {
	return q.Compat.RulesAlone && slices.ContainsFunc(d.Shortage, func(s preemption.Shortage) bool {
		return slices.ContainsFunc(q.Workload.Usage(), func(a quota.Amount) bool {
			return a.FlavorResource() == s.FlavorResource && a.Amount > s.PotentialAvailable
		})
	})
}

// namesAllBlockers reports whether no blocker is left out for another that is not compared.
func (q question) namesAllBlockers() bool {
	most := cmp.Or(q.MaxBlockers, 4)
	return most < 0 || most >= len(q.Queues)+len(q.Cohorts)
}

// blockers leaves out those of whom the words do not say whether their leaving could make the request fit: in
// other queues, by the shares, where a cohort below another may keep to itself what its queues use.
func (q question) blockers(list []preemption.Blocker) []preemption.Blocker {
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
