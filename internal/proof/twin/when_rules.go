package twin

import (
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
)

// observed returns since when the triggers that hold have held.
func observed(before []rules.Observation, holding []rules.Trigger, now time.Time) (after []rules.Observation) {
	for _, trigger := range holding {
		o := rules.Observation{Trigger: trigger, Since: now}
		for _, b := range before {
			if b.Trigger == trigger {
				o.Since = b.Since
			}
		}
		after = append(after, o)
	}
	return after
}

// addRules adds every instant at which the verdict of a rule could change. A trigger may begin to
// hold whenever anything changes, and does so at most once for each: its duration is added to
// sums of the others.
func addRules(st preemption.State, r preemption.Request, add func(time.Time)) {
	if len(st.Rules) == 0 {
		return
	}
	starts := []time.Time{r.Now, r.Workload.Created, r.Workload.ReservedAt}
	for _, o := range r.TriggersSince {
		starts = append(starts, o.Since)
	}
	for _, w := range st.Admitted {
		starts = append(starts, w.ReservedAt, w.Created)
	}
	durations := map[time.Duration]bool{0: true}
	var waits []time.Duration
	for _, c := range st.Rules {
		for _, rule := range c.Rules {
			waits = append(waits, rule.ActivationPolicy.MinTriggerRequiredDuration.Or(0))
			for _, s := range rule.CandidateSelectors {
				durations[s.Time.MinExecutionDuration.Or(0)] = true
				durations[s.Time.MaxExecutionDuration.Or(0)] = true
				durations[s.Time.MinTimeFromCreationDuration.Or(0)] = true
				durations[s.Time.MaxTimeFromCreationDuration.Or(0)] = true
			}
		}
	}
	for _, start := range starts {
		for d := range durations {
			add(start.Add(d))
		}
		for _, wait := range waits {
			add(start.Add(wait))
		}
	}
}

// addWaits adds, to instants at which anything changes, those at which a trigger that began to
// hold then has held long enough.
func addWaits(st preemption.State, list []time.Time) []time.Time {
	before := list
	for _, c := range st.Rules {
		for _, rule := range c.Rules {
			if wait := rule.ActivationPolicy.MinTriggerRequiredDuration.Or(0); wait > 0 {
				for _, at := range before {
					list = append(list, at.Add(wait).Add(1))
				}
			}
		}
	}
	return list
}
