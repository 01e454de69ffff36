package queues

import (
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/preemption/fault"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
)

// refusal judges an answer that nobody yields now, when the documented search finds some victims, or
// none.
func (j *judge) refusal(faults *fault.List, a *Answer, victims []candidate) {
	if others := j.othersAt(j.Now); victims != nil || others == found {
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
	list := j.instants()
	j.observe(j.Now)
	for at, ok := j.next(list, j.Now); ok && !(a.Outcome == Wait && !at.Before(a.RetryAt)); at, ok = j.next(list, at) {
		if victims := j.searchAt(at); victims != nil || j.othersAt(at) == found {
			faults.Add("decision.retryAt", "%v, but at %v already %s may yield", a.RetryAt, at, namesOr(victims))
			return
		}
		j.observe(at)
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

// searchAt is the search at an instant, by policies and by rules. It notes which triggers hold.
func (j *judge) searchAt(at time.Time) (victims []candidate) {
	j.now = at
	defer func() { j.now = j.Now }()
	if !j.RulesAlone || !j.hasRules() {
		victims = j.search()
	}
	if victims == nil {
		victims = j.searchByRules()
	}
	return victims
}

// observe notes which triggers held in a search at an instant, in which nobody was found.
func (j *judge) observe(at time.Time) { j.observed = rules.Observe(j.observed, j.holding, at) }

// next returns the first instant after another at which anything that depends on time changes: one
// of the list, or the end of the duration for which a trigger must be observed.
func (j *judge) next(list []time.Time, after time.Time) (at time.Time, ok bool) {
	list = slices.Clone(list)
	if config := j.rulesOf(); config != nil {
		for i := range config.Rules {
			of := &config.Rules[i].ActivationPolicy
			if since, observed := j.sinceOf(of.Trigger); observed {
				list = append(list, since.Add(of.MinTriggerRequiredDuration.Or(0)).Add(1))
			}
		}
	}
	for _, candidate := range list {
		if candidate.After(after) && instant.Valid(candidate) && (!ok || candidate.Before(at)) {
			at, ok = candidate, true
		}
	}
	return at, ok
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
	j.ofRules(add)
	for _, r := range j.running {
		if r.queue.root() != j.queue.root() && !j.hasRules() {
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

// ofRules adds the instants at which the times of a selector change whom it accepts.
func (j *judge) ofRules(add func(time.Time)) {
	if !j.hasRules() {
		return
	}
	starts := []time.Time{j.Workload.Created, j.Workload.ReservedAt}
	for _, r := range j.running {
		starts = append(starts, r.Created, r.ReservedAt)
	}
	for _, rule := range j.rulesOf().Rules {
		for _, s := range rule.CandidateSelectors {
			for _, start := range starts {
				for _, d := range []quota.OptionalDuration{{}, s.Time.MinExecutionDuration, s.Time.MaxExecutionDuration, s.Time.MinTimeFromCreationDuration, s.Time.MaxTimeFromCreationDuration} {
					if !start.IsZero() {
						add(start.Add(d.Or(0)))
					}
				}
			}
		}
	}
}
