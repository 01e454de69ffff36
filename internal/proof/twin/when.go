package twin

import (
	"slices"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
)

// RetryAt returns the first instant after now at which the request fits or could preempt with
// nothing but time changed. It tries every instant at which anything could change, and assigns
// the flavors anew at each.
func RetryAt(c preemption.Config, st preemption.State, r preemption.Request) (at time.Time, ok bool) {
	later := r
	for _, at := range append([]time.Time{r.Now}, Instants(c, st, r)...) {
		later.Now = at
		_, answer := DecideOpen(c, st, later)
		if at.After(r.Now) && answer.Outcome.Possible() {
			return at, true
		}
		later.TriggersSince = observed(later.TriggersSince, answer.Triggers, at)
	}
	return time.Time{}, false
}

// Instants lists every instant after now, and one nanosecond on, at which anything that
// depends on time could change.
func Instants(c preemption.Config, st preemption.State, r preemption.Request) []time.Time {
	var list []time.Time
	settings := []minruntime.Settings{c.MinRuntime}
	for _, q := range st.Queues {
		settings = append(settings, q.MinRuntime)
	}
	for _, c := range st.Cohorts {
		settings = append(settings, c.MinRuntime)
	}
	add := func(at time.Time) {
		for _, at := range []time.Time{at, at.Add(1)} {
			if at.After(r.Now) {
				list = append(list, at)
			}
		}
	}
	add(r.Workload.Created)
	addRules(st, r, add)
	for _, l := range c.Limits {
		for e := range r.History.All {
			add(e.At.Add(l.Window.Or(0)))
		}
	}
	for _, g := range c.Guards {
		for _, w := range st.Admitted {
			if until, ok := g.Verdict(w, r).Until(); ok {
				add(until)
			}
		}
	}
	for _, w := range st.Admitted {
		for _, d := range []time.Duration{c.Protection.Preempt, c.Protection.Reclaim, c.Protection.FairSharing} {
			add(w.ReservedAt.Add(d - 1))
			add(w.AdmittedAt.Add(d - 1))
		}
		if w.ReservedAt.IsZero() {
			continue
		}
		add(w.ReservedAt)
		for _, s := range settings {
			preempt, _ := s.Preempt.Get()
			reclaim, _ := s.Reclaim.Get()
			add(w.ReservedAt.Add(preempt))
			add(w.ReservedAt.Add(reclaim))
		}
		for _, q := range st.Queues {
			if d, ok := q.Preemption.MinAdmitDuration.Get(); ok {
				add(w.ReservedAt.Add(d))
			}
		}
	}
	list = addWaits(st, addWaits(st, list))
	slices.SortFunc(list, time.Time.Compare)
	return slices.CompactFunc(list, time.Time.Equal)
}
