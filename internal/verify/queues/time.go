package queues

import (
	"slices"
	"time"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/internal/base/instant"
)

// refusal judges an answer that nobody yields now.
func (j *judge) refusal(faults *fault.List, a *Answer) {
	if victims, others := j.searchAt(j.Now), j.othersAt(j.Now); victims != nil || others == found {
		faults.Add("decision.outcome", "%v, but %s may yield now", a.Outcome, namesOr(victims))
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
		if victims := j.searchAt(at); victims != nil || j.othersAt(at) == found {
			faults.Add("decision.retryAt", "%v, but at %v already %s may yield", a.RetryAt, at, namesOr(victims))
			return
		}
	}
	if a.Outcome == Wait && !j.RetryAtIsBound && j.searchAt(a.RetryAt) == nil && j.othersAt(a.RetryAt) == nobody {
		faults.Add("decision.retryAt", "at %v time has not helped", a.RetryAt)
	}
}

// othersAt tells, for an answer by the exact search that is proven, whether any set at all is
// allowed at an instant.
func (j *judge) othersAt(at time.Time) others {
	if !j.AllSets {
		return nobody
	}
	j.now = at
	defer func() { j.now = j.Now }()
	switch exists, known := j.anybody(); {
	case !known:
		return unknown
	case exists:
		return found
	}
	return nobody
}

type others int

const (
	nobody others = iota
	found
	unknown
)

func namesOr(victims []candidate) string {
	if victims == nil {
		return "others than the documented search finds"
	}
	return names(victims)
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
	for i := range j.Limits {
		for k := range j.Events {
			add(j.Events[k].At.Add(j.Limits[i].Window.Or(0)))
		}
	}
	for _, r := range j.running {
		if r.queue.root() != j.queue.root() {
			continue
		}
		if until, ok := j.minimumRuntime(r); ok {
			add(until)
		}
		if until, ok := j.minimumAlone(r); ok {
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
