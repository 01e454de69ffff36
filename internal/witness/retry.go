package witness

import (
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
)

// RetryAt returns "the first instant at which the request fits or can preempt if nothing but time
// changes, later than Now". It tries every instant at which anything could change.
func RetryAt(c preemption.Config, st preemption.State, r preemption.Request) (time.Time, bool) {
	w := newWorld(c, st, r)
	defer tell(w)
	return retryAt(w)
}

func retryAt(w *world) (time.Time, bool) {
	if w.rules != nil {
		observe(w, w.decide(w.request.Now), w.request.Now)
	}
	list := instants(w)
	for len(list) > 0 {
		at := list[0]
		d := w.decide(at)
		if d.Possible() {
			return at, true
		}
		observe(w, d, at)
		list = after(append(list, durationsOfTriggersEnd(w)...), at)
	}
	return time.Time{}, false
}

// Next returns the first instant after Now at which anything could change, if the triggers are observed as the request says.
func Next(c preemption.Config, st preemption.State, r preemption.Request) (at time.Time, ok bool) {
	list := instants(newWorld(c, st, r))
	if len(list) == 0 {
		return at, false
	}
	return list[0], true
}

// instants lists, in order, the instants after now at which a rule begins or ends to hold for a
// workload, or its place among the candidates changes: a time that a workload has, or that time and
// a duration that the configuration has; and the nanosecond after it. Limits have
// room when an event leaves their window.
func instants(w *world) []time.Time {
	list := durationsOfTriggersEnd(w)
	for _, since := range []time.Time{w.request.Workload.Created, w.holdsSince} { // with which those of candidates are compared
		list = append(list, since, since.Add(1))
	}
	lasting := durations(w)
	for _, n := range w.queues {
		for _, r := range n.running {
			times := []time.Time{r.ReservedAt, r.AdmittedAt, r.Created}
			for _, d := range lasting {
				times = append(times, r.ReservedAt.Add(d), r.AdmittedAt.Add(d), r.Created.Add(d))
			}
			for _, g := range w.config.Guards {
				until, _ := g.Verdict(r.Workload, w.request).Until()
				times = append(times, until)
			}
			for _, t := range times {
				list = append(list, t, t.Add(1))
			}
		}
	}
	for e := range w.request.History.All {
		for _, l := range w.config.Limits {
			list = append(list, e.At.Add(l.Window.Or(0)))
		}
	}
	return after(list, w.request.Now)
}

// after returns the instants after another one, in order.
func after(list []time.Time, at time.Time) []time.Time {
	list = slices.DeleteFunc(list, func(t time.Time) bool { return !t.After(at) })
	slices.SortFunc(list, time.Time.Compare)
	return slices.CompactFunc(list, time.Time.Equal)
}

// durations lists all durations that some rule adds to a time.
func durations(w *world) []time.Duration {
	p := w.config.Protection
	list := []time.Duration{
		p.Preempt, p.Reclaim, p.FairSharing, w.config.MinRuntime.Preempt.Or(0), w.config.MinRuntime.Reclaim.Or(0),
		w.own.queue.Preemption.MinAdmitDuration.Or(0),
	}
	for _, n := range slices.Concat(w.cohorts, w.queues) {
		list = append(list, n.minimum.Preempt.Or(0), n.minimum.Reclaim.Or(0))
	}
	list = append(list, durationsOfRules(w)...)
	slices.Sort(list)
	return slices.Compact(list)
}
