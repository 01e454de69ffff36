package twin

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/rules"
	"github.com/cedesched/cede/workload"
)

// DecideByRules answers a valid request by policies and rules. Of the rules' own evaluation only
// whom a selector accepts is asked.
func DecideByRules(c preemption.Config, st preemption.State, r preemption.Request, e *rules.Evaluator) preemption.Decision {
	policies := Decide(c, st, r).Decision
	d := decide(st, r)
	d.config = c
	if policies.Outcome != preemption.Impossible || r.Workload.NeverPreempts || d.inactive(d.queue) {
		return policies
	}
	attempt := d.attempt
	if c.Sharing == preemption.Fair {
		attempt = d.fairAttempt
	}
	attempt(d.candidates(), true)
	taken, by, ok := d.takeByRules(d.exhausted, e)
	if !ok {
		return policies
	}
	for i := len(taken) - 2; i >= 0; i-- {
		without := slices.Delete(slices.Clone(taken), i, i+1)
		whole := slices.ContainsFunc(without, func(c candidate) bool { return c.w.ID == taken[i].w.ID && c.podSet < 0 })
		if d.setGone(without); !(whole && taken[i].podSet >= 0) && d.fits(true) {
			taken = without
		}
	}
	d.setGone(taken)
	found := preemption.Decision{Outcome: preemption.Preempt, BorrowHeight: d.borrowHeight(), Victims: d.victims(taken)}
	if d.gated() {
		found.Outcome = preemption.Gated
	}
	for i := range found.Victims {
		v := &found.Victims[i]
		v.Order = i + 1
		ofRules := func(c candidate) bool {
			return c.w.ID == v.Workload && c.reason == preemption.ConfigurablePreemption
		}
		if slices.ContainsFunc(taken, ofRules) { // whatever replicas the policies took of it
			v.Reason, v.Rules, v.PreemptorQueued = preemption.ConfigurablePreemption, by[v.Workload], time.Time{}
		}
	}
	slices.SortFunc(found.Victims, func(a, b preemption.Victim) int { return cmp.Compare(a.Workload, b.Workload) })
	return found
}

// takeByRules takes those whom the rules accept after those taken already, until the request
// fits.
func (d *decision) takeByRules(taken []candidate, e *rules.Evaluator) (all []candidate, by map[string][]preemption.VictimRule, ok bool) {
	by = map[string][]preemption.VictimRule{}
	for _, trigger := range []rules.Trigger{"Always", "InsufficientQuota", "QuotaFeasibleAndInsufficientTopology"} {
		d.setGone(taken)
		if suffices := d.fitsQuota(true); trigger == "InsufficientQuota" && suffices || trigger == "QuotaFeasibleAndInsufficientTopology" && !suffices {
			continue
		}
		tier, err := e.Tier(trigger, &d.request.Workload)
		if err != nil {
			return nil, nil, false
		}
		list := slices.Clone(d.running)
		slices.SortFunc(list, d.byRules)
		for _, w := range list {
			gone := slices.ContainsFunc(taken, func(c candidate) bool { return c.w.ID == w.ID && c.podSet < 0 })
			usable := uses(&w, d.needed) || d.request.Room != nil && trigger != "InsufficientQuota"
			_, guarded := d.guarded(w)
			until, _, ends := d.minRuntime(&w)
			if gone || !usable || neverYields(&w) || guarded || ends && !d.request.Now.After(until) || d.queues[w.Queue].Inactive {
				continue
			}
			matches := tier.Select(&w)
			if len(matches) == 0 {
				continue
			}
			for _, m := range matches {
				rule := preemption.VictimRule{Config: d.queues[d.queue.name].Rules, Rule: tier.RuleName(m)}
				list := by[w.ID]
				if len(list) == 0 || list[len(list)-1].Rule != rule.Rule {
					list = append(list, rule)
				}
				list[len(list)-1].Selectors = append(list[len(list)-1].Selectors, m.Selector)
				by[w.ID] = list
			}
			taken = append(slices.Clone(taken), candidate{w: w, lca: d.cohortAbove(w.Queue), reason: preemption.ConfigurablePreemption, podSet: -1})
			if d.setGone(taken); d.fits(true) {
				return taken, by, true
			}
		}
	}
	return nil, nil, false
}

// byRules is the order of the candidates of a tier.
func (d *decision) byRules(a, b workload.Workload) int {
	unknown := func(w *workload.Workload) bool { return w.ReservedAt.IsZero() }
	return cmp.Or(
		compareBool(b.Evicted, a.Evicted), compareBool(a.Queue == d.queue.name, b.Queue == d.queue.name),
		cmp.Compare(importance(&a), importance(&b)),
		compareBool(unknown(&b), unknown(&a)), b.ReservedAt.Compare(a.ReservedAt),
		cmp.Compare(a.UID, b.UID), cmp.Compare(a.ID, b.ID),
	)
}

// cohortAbove returns the lowest cohort above another queue and the preemptor's.
func (d *decision) cohortAbove(name string) node {
	if name == d.queue.name {
		return node{}
	}
	ours := d.ancestors(d.queue)
	for _, n := range d.ancestors(node{"queue", name}) {
		if slices.Contains(ours, n) {
			return n
		}
	}
	return node{}
}
