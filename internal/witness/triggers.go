package witness

import (
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
)

// KEP-13396, future work: "minTriggerRequiredDuration: how long the trigger must have been observed without a break".

// longEnough: "MinTriggerRequiredDuration is how long the trigger must have been observed, without a break, before the
// rule is looked at; strictly longer than that. Unset or zero: it need not." A trigger "that is not listed counts
// from Now".
func longEnough(w *world, r *rules.Rule, at time.Time) bool {
	least := r.ActivationPolicy.MinTriggerRequiredDuration.Or(0)
	i := slices.IndexFunc(w.observed, func(o rules.Observation) bool { return o.Trigger == r.ActivationPolicy.Trigger })
	return least <= 0 || i >= 0 && at.After(w.observed[i].Since.Add(least))
}

// observe notes which triggers hold at an instant: RetryAt is the first instant "if nothing but time changes and
// triggers are observed all along. (If flavors are assigned, it takes it that a trigger that holds then has held
// since Now.)"
func observe(w *world, d preemption.Decision, at time.Time) {
	if w.rules == nil {
		return
	}
	holding := d.Triggers
	if slices.ContainsFunc(w.request.Workload.Usage(), func(a quota.Amount) bool { return a.Flavor == "" }) {
		holding, at = rules.Triggers(), w.request.Now
	}
	w.observed = rules.Observe(w.observed, holding, at)
}

// durationsOfTriggersEnd lists when triggers that are observed will have been for as long as rules ask.
func durationsOfTriggersEnd(w *world) (list []time.Time) {
	for _, o := range w.observed {
		for i := 0; w.rules != nil && i < len(w.rules.Rules); i++ {
			end := o.Since.Add(w.rules.Rules[i].ActivationPolicy.MinTriggerRequiredDuration.Or(0))
			list = append(list, end, end.Add(1))
		}
	}
	return list
}

// durationsOfRules lists those that selectors add to the times of candidates.
func durationsOfRules(w *world) (list []time.Duration) {
	if w.rules == nil {
		return nil
	}
	for i := range w.rules.Rules {
		for k := range w.rules.Rules[i].CandidateSelectors {
			t := &w.rules.Rules[i].CandidateSelectors[k].Time
			list = append(list, t.MinExecutionDuration.Or(0), t.MaxExecutionDuration.Or(0),
				t.MinTimeFromCreationDuration.Or(0), t.MaxTimeFromCreationDuration.Or(0))
		}
	}
	return list
}
