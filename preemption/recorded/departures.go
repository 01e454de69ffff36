package recorded

import (
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Departures of decisions about quota, by name.
const (
	// fitsBefore: Kueue tests the fit only after the first removal and so names a victim. Here the outcome is Fits.
	fitsBefore = "the request already fits"
	// leavingEnough: here nothing else is told to stop. Kueue asks each in its turn: its queue may not borrow then, or a
	// strategy of fair sharing may refuse it.
	leavingEnough = "what is leaving already is enough"
	// retriesTooEarly: Kueue retries at a time at which the request still does not fit. Here RetryAt is when enough protections
	// have ended.
	retriesTooEarly = "the retry is at the first end of a protection, which is not enough"

	negativeDuration  = "a negative duration is refused"
	exactlyAtTheEnd   = "exactly at the end of its time a workload is still protected"
	startInTheFuture  = "a start in the future does not protect without a minimum"
	onlyRunningCounts = "only replicas that run count: not those that are terminating, waiting or done"
)

// victimsExcuse returns the departure that explains other victims.
func (a *asked) victimsExcuse(d *preemption.Decision, got []string) (excuse, error) {
	fits := d.Outcome == preemption.Fits
	for _, amount := range a.request.Workload.Usage() {
		fits = fits && a.fitsAlready(amount)
	}
	if fits {
		return excuse{fitsBefore, []string{}}, nil
	}
	if leaving, err := a.leavingIsEnough(d); err != nil || !leaving {
		return excuse{}, err
	}
	return excuse{leavingEnough, got}, nil
}

// fitsAlready is the predicate of fitsBefore: by the recorded rows there is room for the amount.
func (a *asked) fitsAlready(amount quota.Amount) bool {
	at := slices.IndexFunc(a.Want.Queues, func(row Row) bool {
		return row.Name == a.request.Workload.Queue && row.FlavorResource == amount.FlavorResource()
	})
	return at >= 0 && amount.Amount <= a.Want.Queues[at].Available
}

// heightNow returns how far up the tree an amount borrows with no workload gone.
func (a *asked) heightNow(amount quota.Amount) (int64, error) {
	r := a.request
	r.Workload.NeverPreempts, r.NeedsPreemption, r.Room = true, nil, nil
	r.Workload.PodSets = []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{amount}}}
	d, err := a.preemptor.Decide(a.snapshot, r)
	return int64(d.BorrowHeight), err
}

// leavingIsEnough is the predicate of leavingEnough: all victims here are being evicted, the other scheduler names others or
// none, and the request fits once the victims here are gone.
func (a *asked) leavingIsEnough(d *preemption.Decision) (bool, error) {
	leaving := func(id string) bool { w, ok := a.snapshot.Find(id); return ok && w.Evicted }
	others := len(a.Want.Victims) == 0 || slices.ContainsFunc(a.Want.Victims, func(v Victim) bool { return !leaving(v.Workload) })
	if len(d.Victims) == 0 || !others || slices.ContainsFunc(d.Victims, func(v preemption.Victim) bool { return !leaving(v.Workload) }) {
		return false, nil
	}
	edits := make([]preemption.Edit, len(d.Victims))
	for i, v := range d.Victims {
		edits[i] = preemption.Remove(v.Workload)
	}
	s, err := a.snapshot.With(edits...)
	if err != nil {
		return false, err
	}
	without, err := a.preemptor.Decide(s, a.request)
	return without.Outcome == preemption.Fits, err
}

// possibleExcuse returns the departure that explains another answer to whether the request fits.
func (a *asked) possibleExcuse(d *preemption.Decision) (e excuse, err error) {
	switch want := *a.Want.Possible; {
	case want && d.Outcome == preemption.Wait && d.RetryAt.Equal(a.request.Now.Add(1)):
		return excuse{exactlyAtTheEnd, one(false)}, nil
	case !want && a.startsLater():
		return excuse{startInTheFuture, one(true)}, nil
	case a.Counted == nil:
		return excuse{}, nil
	}
	counted, err := a.ask(a.Counted)
	if err != nil {
		return excuse{}, err
	}
	as, err := counted.preemptor.Decide(counted.snapshot, counted.request)
	if err != nil || as.Outcome.Succeeds() != *a.Want.Possible {
		return excuse{}, err
	}
	return excuse{onlyRunningCounts, one(d.Outcome.Succeeds())}, nil
}

// startsLater is the predicate of startInTheFuture: a workload starts after now.
func (a *asked) startsLater() bool {
	return slices.ContainsFunc(a.State.Admitted, func(w workload.Workload) bool { return w.ReservedAt.After(a.request.Now) })
}

// retryExcuse returns the excuse of retriesTooEarly, with the first end of a protection at which the request need not wait: if
// the other scheduler retries at the first end of all, and the request has to wait then.
func (a *asked) retryExcuse() (excuse, error) {
	var ends []time.Time
	for _, w := range a.State.Admitted {
		for _, d := range []time.Duration{a.config.Protection.Reclaim, a.config.Protection.FairSharing} {
			if end := w.AdmittedAt.Add(d); d > 0 && end.After(a.request.Now) {
				ends = append(ends, end)
			}
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	r := a.request
	for i, end := range slices.CompactFunc(ends, time.Time.Equal) {
		r.Now = end
		d, err := a.preemptor.Decide(a.snapshot, r)
		switch {
		case err != nil || i == 0 && (!end.Equal(*a.Want.RetryAt) || d.Possible()):
			return excuse{}, err
		case d.Possible():
			return excuse{retriesTooEarly, instantText(end)}, nil
		}
	}
	if len(ends) == 0 {
		return excuse{}, nil
	}
	return excuse{retriesTooEarly, instantText(time.Time{})}, nil
}

// negativeMinimum is the predicate of negativeDuration.
func (q *Question) negativeMinimum() bool {
	negative := func(d quota.OptionalDuration) bool { return d.Or(0) < 0 }
	if q.Config != nil && (negative(q.Config.MinRuntime.Preempt) || negative(q.Config.MinRuntime.Reclaim)) {
		return true
	}
	return slices.ContainsFunc(q.State.Cohorts, func(co queue.Cohort) bool {
		return negative(co.MinRuntime.Preempt) || negative(co.MinRuntime.Reclaim)
	})
}
