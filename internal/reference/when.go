package reference

import (
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
)

// RetryAt returns the first instant after now at which the request fits or could preempt with nothing but time
// changed. It tries every instant at which anything could change, and assigns the flavors anew at each.
func RetryAt(c preemption.Config, st preemption.State, r preemption.Request) (at time.Time, ok bool) {
	list, asked := Instants(c, st, r), r
	for at, ok = r.Now, true; ok; at, ok = New(c, st, withFlavors(r)).Next(list, at, asked.TriggersSince) {
		asked.Now = at
		_, answer := DecideOpen(c, st, asked)
		if at.After(r.Now) && answer.Possible() {
			return at, true
		}
		asked.TriggersSince = rules.Observe(asked.TriggersSince, answer.Triggers, at)
	}
	return time.Time{}, false
}

// Instants lists, in order, the instants after now at which anything that depends on time changes.
func Instants(c preemption.Config, st preemption.State, r preemption.Request) []time.Time {
	return New(c, st, withFlavors(r)).Instants()
}

// withFlavors leaves out the requests without a flavor.
func withFlavors(r preemption.Request) preemption.Request {
	r.Workload = r.Workload.Clone()
	for i := range r.Workload.PodSets {
		p := &r.Workload.PodSets[i]
		p.Requests = slices.DeleteFunc(p.Requests, func(a quota.Amount) bool { return a.Flavor == "" })
	}
	return r
}

// Next returns the first instant after another at which anything that depends on time changes: one of the list, or
// the end of the duration for which a trigger must be observed.
func (q *Question) Next(list []time.Time, after time.Time, observed []rules.Observation) (at time.Time, ok bool) {
	list = slices.Clone(list)
	if config := q.RulesOf(); config != nil {
		for i := range config.Rules {
			of := &config.Rules[i].ActivationPolicy
			for _, o := range observed {
				if o.Trigger == of.Trigger {
					list = append(list, o.Since.Add(of.MinTriggerRequiredDuration.Or(0)).Add(1))
				}
			}
		}
	}
	for _, t := range list {
		if t.After(after) && instant.Valid(t) && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	return at, ok
}

// Instants lists, in order, the instants after now at which anything that depends on time changes: the last one of a
// time and the one after it.
func (q *Question) Instants() (list []time.Time) {
	add := func(at time.Time) {
		for _, at := range []time.Time{at, at.Add(1)} {
			if at.After(q.Now) && instant.Valid(at) {
				list = append(list, at)
			}
		}
	}
	for i := range q.Config.Limits {
		for e := range q.Request.History.All {
			add(e.At.Add(q.Config.Limits[i].Window.Or(0)))
		}
	}
	q.addSelectors(add)
	for _, r := range q.Running {
		if r.At.root() != q.Queue.root() && q.RulesOf() == nil {
			continue
		}
		if until, _, ok := q.guarantee(r); ok {
			add(until)
		}
		if until, _, ok := q.minRuntime(r); ok {
			add(until)
		}
		for _, kind := range []time.Duration{q.Config.Protection.Reclaim, q.Config.Protection.FairSharing} {
			if until, ok := q.protection(r, kind); ok {
				add(until)
			}
		}
		for _, g := range q.Config.Guards {
			if until, timed := g.Verdict(r.Given.Clone(), q.Request).Until(); timed {
				add(until)
			}
		}
		if r.ReservedAt.IsZero() {
			continue
		}
		add(r.ReservedAt) // until now workloads without a reservation time come later
		if least, timed := q.minAdmit(); timed && r.At == q.Queue {
			add(r.ReservedAt.Add(least))
		}
	}
	slices.SortFunc(list, time.Time.Compare)
	return slices.CompactFunc(list, time.Time.Equal)
}

// addSelectors adds the instants at which the times of a selector change what it accepts.
func (q *Question) addSelectors(add func(time.Time)) {
	config := q.RulesOf()
	if config == nil {
		return
	}
	starts := []time.Time{q.Request.Workload.Created, q.Request.Workload.ReservedAt}
	for _, r := range q.Running {
		starts = append(starts, r.Created, r.ReservedAt)
	}
	for _, rule := range config.Rules {
		for _, s := range rule.CandidateSelectors {
			t := &s.Time
			for _, d := range []quota.OptionalDuration{
				{}, t.MinExecutionDuration, t.MaxExecutionDuration, t.MinTimeFromCreationDuration, t.MaxTimeFromCreationDuration,
			} {
				for _, start := range starts {
					if !start.IsZero() {
						add(start.Add(d.Or(0)))
					}
				}
			}
		}
	}
}
