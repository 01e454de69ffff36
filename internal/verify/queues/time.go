package queues

import (
	"slices"
	"time"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/internal/base/instant"
)

// refusal judges an answer that nobody yields now.
func (j *judge) refusal(faults *fault.List, a *Answer) {
	if victims := j.searchAt(j.Now); victims != nil {
		faults.Add("decision.outcome", "%s, but %s may yield now", outcomeNames[a.Outcome], names(victims))
	}
	switch given := !a.RetryAt.IsZero(); {
	case a.Outcome != Wait:
	case given == j.SkipRetryAt && !j.FlavorsOpen:
		faults.Add("decision.retryAt", "%v: want one if and only if it is asked for", a.RetryAt)
		return
	case given && !a.RetryAt.After(j.Now):
		faults.Add("decision.retryAt", "%v is not after now, %v", a.RetryAt, j.Now)
		return
	}
	if j.FlavorsOpen || a.Outcome == Wait && j.SkipRetryAt {
		return
	}
	for _, at := range j.instants() {
		if a.Outcome == Wait && !at.Before(a.RetryAt) {
			break
		}
		if victims := j.searchAt(at); victims != nil {
			faults.Add("decision.retryAt", "%v, but at %v already %s may yield", a.RetryAt, at, names(victims))
			return
		}
	}
	if a.Outcome == Wait && !j.RetryAtIsBound && j.searchAt(a.RetryAt) == nil {
		faults.Add("decision.retryAt", "at %v time has not helped", a.RetryAt)
	}
}

// searchAt is the search at an instant.
func (j *judge) searchAt(at time.Time) []candidate {
	j.now = at
	defer func() { j.now = j.Now }()
	return j.search()
}

// instants lists, in order, the instants after now at which anything that depends on time
// changes: the last instant of a protection is the last one of it.
func (j *judge) instants() (list []time.Time) {
	add := func(at time.Time) {
		for _, at := range []time.Time{at, at.Add(1)} {
			if at.After(j.Now) && instant.Valid(at) {
				list = append(list, at)
			}
		}
	}
	if j.NewerByReservation {
		add(j.Workload.Created)
	}
	for _, r := range j.running {
		if r.queue.root() != j.queue.root() {
			continue
		}
		if until, ok := j.minimumRuntime(r); ok {
			add(until)
		}
		if j.Guard != nil {
			if until, never := j.Guard(r.Workload); !never && !until.IsZero() {
				add(until)
			}
		}
		if r.ReservedAt.IsZero() {
			continue
		}
		add(r.ReservedAt) // until now those without a reservation time come later
		if least, ok := j.policy.MinAdmitDuration.Get(); ok && r.queue == j.queue {
			add(r.ReservedAt.Add(least))
		}
	}
	slices.SortFunc(list, time.Time.Compare)
	return slices.CompactFunc(list, time.Time.Equal)
}
