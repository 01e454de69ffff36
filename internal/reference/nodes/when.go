package nodes

import (
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/preemption/placement"
)

// At is the decision at some time, without the reasons of a refusal and as if time stood still.
func (w *World) At(t time.Time) placement.Decision {
	r := w.Request
	r.Now = t
	return now(w.Config, w.State, r, false)
}

// RetryAt returns the first instant after now at which the request fits or preempts if nothing but time changes;
// zero: there is none. It tries every instant at which anything could change.
func (w *World) RetryAt() time.Time {
	for _, at := range w.Instants() {
		if w.At(at).Outcome.Succeeds() {
			return at
		}
	}
	return time.Time{}
}

// Instants lists every instant after now, and one nanosecond on, at which anything that depends on time could change.
func (w *World) Instants() (list []time.Time) {
	add := func(at time.Time) {
		for _, at := range []time.Time{at, at.Add(1)} {
			if at.After(w.Request.Now) && instant.Valid(at) {
				list = append(list, at)
			}
		}
	}
	for _, p := range w.State.Pods {
		if until, _ := w.minimumRuntime(p); !until.IsZero() {
			add(until)
		}
		if p.Terminating && !p.TerminatingSince.IsZero() && w.Request.TerminationTimeout > 0 {
			add(p.TerminatingSince.Add(w.Request.TerminationTimeout))
		}
	}
	for _, u := range w.Units() {
		if until, never := w.guarded(u); !never && !until.IsZero() {
			add(until)
		}
	}
	slices.SortFunc(list, time.Time.Compare)
	return slices.CompactFunc(list, time.Time.Equal)
}
