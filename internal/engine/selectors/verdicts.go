package selectors

import (
	"time"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// ServesBy reports whether a rule serves the preemptor, by its index in the configuration: it has the
// trigger of the tier, and its preemptor selectors select the preemptor.
func (t *Tier) ServesBy(rule int) bool {
	for r := range t.serving {
		if r.index == rule {
			return true
		}
	}
	return false
}

// Verdicts returns what each selector of the rules that serve the preemptor says of a running
// workload, in the order of the rules; nothing of one in an unknown queue. It looks at every selector:
// [Tier.Select] and [Tier.Accepts] are faster.
func (t *Tier) Verdicts(candidate *workload.Workload, m Moment) (list []rules.Verdict) {
	if t.served == 0 {
		return nil
	}
	at, known := t.placeOf(candidate.Queue)
	if !known {
		return nil
	}
	for i := range t.of.entries {
		if e := &t.of.entries[i]; t.serves.has(e.rule) {
			list = append(list, t.verdict(e, candidate, &at, m))
		}
	}
	return list
}

func (t *Tier) verdict(e *entry, candidate *workload.Workload, at *place, m Moment) rules.Verdict {
	v := rules.Verdict{Match: e.Match}
	only := func(s rules.CandidateSelector) bool {
		return t.accepts(&entry{selector: &selector{CandidateSelector: &s, classes: compileClasses(s.Priority.ClassSelector)}}, candidate)
	}
	switch {
	case !t.reaches(e.Scope, candidate.Queue, at) || !only(rules.CandidateSelector{Scope: e.Scope}):
		v.Refuses = rules.PartScope
	case !selects(e.ClusterQueueSelector, at.labels):
		v.Refuses = rules.PartQueueLabels
	case !only(rules.CandidateSelector{LabelSelector: e.LabelSelector}):
		v.Refuses = rules.PartLabels
	case !only(rules.CandidateSelector{Priority: e.Priority}):
		v.Refuses = rules.PartPriority
	case !t.accepts(e, candidate):
		v.Refuses = rules.PartNumericLabels
	case t.timely(e, candidate, m):
		return v
	case !holds(&e.Time, candidate, &t.preemptor, m.Now):
		v.Refuses, v.From = rules.PartTime, t.acceptedFrom(e, candidate, m)
	case t.waits(e, m):
		v.Refuses, v.From = rules.PartTrigger, t.acceptedFrom(e, candidate, m)
	default:
		v.Refuses = rules.PartQuota
	}
	return v
}

// waits reports whether the trigger of a rule has not been observed for long enough.
func (t *Tier) waits(e *entry, m Moment) bool {
	wait := t.of.rules[e.rule].wait
	return wait > 0 && (m.Since.IsZero() || m.Now.Sub(m.Since) <= wait)
}

// acceptedFrom returns the first later instant at which time does not refuse a workload; zero if there
// is none. The trigger is observed all along.
func (t *Tier) acceptedFrom(e *entry, candidate *workload.Workload, m Moment) time.Time {
	if m.Since.IsZero() {
		m.Since = m.Now
	}
	instants := []time.Time{m.Since.Add(t.of.rules[e.rule].wait).Add(1)}
	if e.timed {
		changes(&e.Time, candidate, &t.preemptor, func(at time.Time) { instants = append(instants, at) })
	}
	heap.Sort(instants, func(a, b *time.Time) bool { return a.Before(*b) })
	for _, at := range instants {
		if at.After(m.Now) && t.timely(e, candidate, Moment{Now: at, Since: m.Since, Quota: m.Quota}) {
			return at
		}
	}
	return time.Time{}
}
