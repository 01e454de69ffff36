package nodes

import (
	"slices"
	"time"

	"github.com/cedesched/cede/preemption/placement"
)

// RetryAt returns "the first instant after Now at which the outcome is Fits or Preempt if nothing but time changes",
// zero if there is none. It tries each instant at which a protection or a wait is over.
func RetryAt(c placement.Config, st placement.State, r placement.Request) time.Time {
	for _, at := range newWorld(c, st, r, r.Now).instants() {
		later := r
		later.Now = at
		if d := decideAt(c, st, later, at); d.Outcome.Possible() {
			return at
		}
	}
	return time.Time{}
}

// instants: "minimum runtimes and guards end, and the wait for terminating pods ends". Each rule holds until an instant,
// and not a nanosecond longer.
func (w *world) instants() (list []time.Time) {
	for _, u := range w.units() {
		if until, _ := w.protectedUntil(u); !until.IsZero() {
			list = append(list, until.Add(1))
		}
	}
	for _, p := range w.running {
		if p.Terminating && w.request.TerminationTimeout > 0 && !p.TerminatingSince.IsZero() {
			list = append(list, p.TerminatingSince.Add(w.request.TerminationTimeout+1))
		}
	}
	list = slices.DeleteFunc(list, func(t time.Time) bool { return !t.After(w.request.Now) })
	slices.SortFunc(list, time.Time.Compare)
	return slices.CompactFunc(list, time.Time.Equal)
}
