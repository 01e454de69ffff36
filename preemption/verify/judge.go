package verify

import (
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/reference"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
)

// judge holds the question and the decision that is judged.
type judge struct {
	*reference.Question
	d *preemption.Decision
	// assigned: the flavors were assigned, so that other flavors may be assigned at another time.
	assigned bool
	// allLeave: all victims were told to leave before. leave: they are judged by the rights that stay while others leave.
	allLeave, leave bool
}

// judge returns everything that is wrong with the decision.
func (j *judge) judge() (faults fault.List) {
	d, w := j.d, &j.Request.Workload
	wrong := func(field, problem string, args ...any) { faults.Add("decision."+field, problem, args...) }
	if d.Outcome < preemption.Fits || d.Outcome > preemption.Impossible {
		wrong("outcome", "%d is unknown", d.Outcome)
		return faults
	}
	if j.Queue.Queue.Inactive {
		if d.Outcome != preemption.Impossible || d.BorrowHeight != 0 || len(d.Victims) > 0 || d.Admitted != nil {
			wrong("outcome", "%v, but nothing in queue %q is admitted: it is inactive", d.Outcome, w.Queue)
		}
		return faults
	}
	preempts := d.Outcome == preemption.Preempt || d.Outcome == preemption.Gated
	j.allLeave = d.Leaving || allLeaving(d.Victims)
	switch fits := j.FitsNow(); {
	case fits && d.Outcome != preemption.Fits:
		wrong("outcome", "%v, but the request fits now", d.Outcome)
	case !fits && d.Outcome == preemption.Fits:
		wrong("outcome", "Fits, but the request does not fit now")
	case preempts && w.NeverPreempts:
		wrong("outcome", "%v, but the workload never preempts", d.Outcome)
	case d.Outcome == preemption.Preempt && w.Gates.AnyClosed():
		wrong("outcome", "Preempt, but a gate is closed")
	case d.Outcome == preemption.Gated && !w.Gates.AnyClosed():
		wrong("outcome", "Gated, but no gate is closed")
	case d.Outcome == preemption.Gated && j.allLeave:
		wrong("outcome", "Gated, but all victims leave already")
	case d.Leaving && w.NeverPreempts:
		wrong("leaving", "is set, but the workload never preempts")
	case d.Leaving && d.Outcome != preemption.Wait:
		wrong("leaving", "is set for %v", d.Outcome)
	case d.Leaving && len(d.Victims) > 0 && !allLeaving(d.Victims):
		wrong("leaving", "is set, but some victims do not leave")
	case d.Leaving && !d.RetryAt.IsZero():
		wrong("retryAt", "%v is set, but what leaves will be enough", d.RetryAt)
	}
	switch {
	case preempts && len(d.Victims) == 0:
		wrong("victims", "%v without victims", d.Outcome)
	case !preempts && !d.Leaving && len(d.Victims) > 0:
		wrong("victims", "%v with victims", d.Outcome)
	}
	if d.Outcome != preemption.Wait && !d.RetryAt.IsZero() {
		wrong("retryAt", "%v is set for %v", d.RetryAt, d.Outcome)
	}
	if preempts && !j.allLeave && !j.byRulesAlone() {
		if enough, soon := j.Leaving(); enough != nil || soon {
			wrong("victims", "what leaves already is enough: %s", names(enough))
		}
	}
	j.admitted(&faults)
	var parts []reference.Candidate
	if j.RulesOf() != nil && len(d.Victims) > 0 && (byRules(d) || j.Config.Compat.RulesAlone) {
		parts = j.victimsByRules(&faults)
	} else {
		parts = j.victims(&faults)
	}
	j.Take(parts...)
	if height := j.BorrowHeight(); d.BorrowHeight != height {
		wrong("borrowHeight", "%d, want %d", d.BorrowHeight, height)
	}
	j.Return(parts...)
	refused := d.Outcome == preemption.Impossible || d.Outcome == preemption.Wait && !d.Leaving
	var chosen []reference.Candidate
	var holding []rules.Trigger
	if refused || byRules(d) {
		chosen, holding = searchAt(j.Question)
	}
	if !slices.Equal(d.Triggers, holding) {
		wrong("triggers", "%v, want %v", d.Triggers, holding)
	}
	switch {
	case refused:
		j.refusal(&faults, chosen, holding)
	case byRules(d) && len(faults) == 0:
		j.order(&faults, parts, chosen)
	}
	return faults
}

// byRulesAlone: the policies permit nobody.
func (j *judge) byRulesAlone() bool { return j.RulesOf() != nil && j.Config.Compat.RulesAlone }

// admitted judges the workload that is admitted.
func (j *judge) admitted(faults *fault.List) {
	w, asked := j.d.Admitted, &j.Request.Workload
	switch {
	case w == nil && j.d.Outcome == preemption.Fits:
		faults.Add("decision.admitted", "is not set, but the request fits")
	case w != nil && j.d.Outcome != preemption.Fits:
		faults.Add("decision.admitted", "is set for %v", j.d.Outcome)
	case w == nil:
	case w.ID != asked.ID, w.Queue != asked.Queue, w.EffectivePriority() != asked.EffectivePriority(),
		w.Evicted, !w.ReservedAt.Equal(j.Now), !w.AdmittedAt.IsZero(), !slices.Equal(w.Usage(), asked.Usage()):
		faults.Add("decision.admitted", "is not the request's workload, reserved now: %q, %v", w.ID, w.Usage())
	}
}

// refusal judges an answer without victims by whether the documented search finds victims.
func (j *judge) refusal(faults *fault.List, victims []reference.Candidate, holding []rules.Trigger) {
	d := j.d
	if _, soon := j.Leaving(); soon && !j.Request.Workload.NeverPreempts && !j.byRulesAlone() {
		faults.Add("decision.outcome", "%v, but what leaves already is enough", d.Outcome)
	} else if victims != nil || j.othersAt(j.Question) {
		faults.Add("decision.outcome", "%v, but %s may yield now", d.Outcome, namesOr(victims))
	}
	waits, given := d.Outcome == preemption.Wait, !d.RetryAt.IsZero()
	switch {
	case !waits:
	case given == (j.Config.MaxRetrySteps < 0) && !j.assigned:
		faults.Add("decision.retryAt", "%v: want one if and only if it is asked for", d.RetryAt)
		return
	case given && !d.RetryAt.After(j.Now):
		faults.Add("decision.retryAt", "%v is not after now, %v", d.RetryAt, j.Now)
		return
	}
	if j.assigned || waits && j.Config.MaxRetrySteps < 0 {
		return
	}
	list, observed := j.Instants(), rules.Observe(j.Request.TriggersSince, holding, j.Now)
	for at, ok := j.Next(list, j.Now, observed); ok && !(waits && !at.Before(d.RetryAt)); at, ok = j.Next(list, at, observed) {
		later := j.At(at, observed)
		victims, holding := searchAt(later)
		if victims != nil || j.othersAt(later) {
			faults.Add("decision.retryAt", "%v, but at %v already %s may yield", d.RetryAt, at, namesOr(victims))
			return
		}
		observed = rules.Observe(observed, holding, at)
	}
	if !waits || j.retryAtIsBound() {
		return
	}
	then := j.At(d.RetryAt, observed)
	if victims, _ := searchAt(then); victims == nil && j.noneAt(then) {
		faults.Add("decision.retryAt", "at %v time has not helped", d.RetryAt)
	}
}

// retryAtIsBound reports whether RetryAt may be too early. With few steps the best search may not show that an
// instant does not help. The default number suffices for all sets of the few candidates that are judged.
func (j *judge) retryAtIsBound() bool {
	return j.Config.MaxRetrySteps > 0 || j.Config.Best.Steps > 0
}

// mostTried is the largest number of candidates, replicas counted one by one, of which all sets are tried.
const mostTried = 10

// othersAt reports whether an answer of the search Best that is proven misses an allowed set.
func (j *judge) othersAt(q *reference.Question) bool {
	if !j.proven() {
		return false
	}
	exists, known := q.Exists(mostTried)
	return known && exists
}

// noneAt reports whether it is known that no other set is allowed than what the documented search finds.
func (j *judge) noneAt(q *reference.Question) bool {
	if !j.proven() {
		return true
	}
	exists, known := q.Exists(mostTried)
	return known && !exists
}

func (j *judge) proven() bool { return j.d.Proof != nil && j.d.Proof.Optimal }

func namesOr(victims []reference.Candidate) string {
	if victims == nil {
		return "others than the documented search finds"
	}
	return names(victims)
}

// searchAt makes the documented search, by policies and by rules. It also returns which triggers hold.
func searchAt(q *reference.Question) (victims []reference.Candidate, holding []rules.Trigger) {
	if q.RulesOf() == nil || !q.Config.Compat.RulesAlone {
		victims = q.Search()
	}
	if victims == nil {
		b := q.SearchByRules()
		return b.Victims, b.Holding
	}
	return victims, nil
}

// queued is the time of queueing that a victim has if its minAdmitDuration is over: that of the
// preemptor.
func (j *judge) queued(reason preemption.VictimReason) time.Time {
	if reason == preemption.InClusterQueueTimeBased {
		return j.Request.Workload.Queued
	}
	return time.Time{}
}
