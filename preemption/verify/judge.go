package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/witness"
	"github.com/cedesched/cede/preemption"
)

// judge holds the question and the decision that is judged.
type judge struct {
	*witness.Question
	d       *preemption.Decision
	config  preemption.Config
	state   preemption.State
	request preemption.Request // in which every amount has a flavor
}

// judge returns everything that is wrong with the decision.
func (j *judge) judge() (faults fault.List) {
	d := j.d
	if d.Outcome < preemption.Fits || d.Outcome > preemption.Impossible {
		faults.Add("decision.outcome", "%d is unknown", d.Outcome)
		return faults
	}
	faults = append(faults, j.lost()...)
	if j.Inactive() {
		if d.Outcome != preemption.Impossible || d.BorrowHeight != 0 || len(d.Victims) > 0 || d.Admitted != nil {
			faults.Add("decision.outcome", "%v, but nothing in queue %q is admitted: it is inactive", d.Outcome, j.request.Workload.Queue)
		}
		return faults
	}
	if j.config.Sharing == preemption.KAI {
		return append(faults, j.byShares()...)
	}
	j.outcome(&faults)
	j.admitted(&faults)
	switch {
	case len(d.Victims) > 0:
		faults = append(faults, j.Victims(d.Victims, d.Leaving)...)
	case d.Leaving && !j.FitsSoon():
		faults.Add("decision.leaving", "without what terminates the request does not fit")
	}
	if height := j.BorrowHeight(d.Victims); d.BorrowHeight != height {
		faults.Add("decision.borrowHeight", "%d, want %d", d.BorrowHeight, height)
	}
	want := witness.Decide(j.config, j.state, j.request)
	if d.Outcome == preemption.Impossible || d.Outcome == preemption.Wait && !d.Leaving {
		j.refusal(&faults, &want)
	} else {
		j.order(&faults, &want)
		if j.proven() && len(faults) == 0 && len(d.Victims) > 0 {
			j.best(&faults)
		}
	}
	if !slices.Equal(d.Triggers, want.Triggers) {
		faults.Add("decision.triggers", "%v, want %v", d.Triggers, want.Triggers)
	}
	return faults
}

// outcome judges the outcome beside what is said with it.
func (j *judge) outcome(faults *fault.List) {
	d, w, fits := j.d, &j.request.Workload, j.Fits()
	wrong := func(field, problem string, args ...any) { faults.Add("decision."+field, problem, args...) }
	preempts, all := d.Outcome == preemption.Preempt || d.Outcome == preemption.Gated, d.Leaving || allLeaving(d.Victims)
	switch {
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
	case d.Outcome == preemption.Gated && all:
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
	case preempts && !all && j.Awaited():
		wrong("victims", "what leaves already is enough")
	}
	if d.Outcome != preemption.Wait && !d.RetryAt.IsZero() {
		wrong("retryAt", "%v is set for %v", d.RetryAt, d.Outcome)
	}
}

// admitted judges the workload that is admitted.
func (j *judge) admitted(faults *fault.List) {
	w, asked := j.d.Admitted, &j.request.Workload
	switch {
	case w == nil && j.d.Outcome == preemption.Fits:
		faults.Add("decision.admitted", "is not set, but the request fits")
	case w != nil && j.d.Outcome != preemption.Fits:
		faults.Add("decision.admitted", "is set for %v", j.d.Outcome)
	case w == nil:
	case w.ID != asked.ID, w.Queue != asked.Queue, w.EffectivePriority() != asked.EffectivePriority(),
		w.Evicted, !w.ReservedAt.Equal(j.request.Now), !w.AdmittedAt.IsZero(), !slices.Equal(w.Usage(), asked.Usage()):
		faults.Add("decision.admitted", "is not the request's workload, reserved now: %q, %v", w.ID, w.Usage())
	}
}

// order judges the numbers of the victims, if they are given. If they are the victims that the documented search chooses, so are
// the numbers.
func (j *judge) order(faults *fault.List, want *preemption.Decision) {
	list := j.d.Victims
	if !slices.ContainsFunc(list, func(v preemption.Victim) bool { return v.Order != 0 }) {
		return
	}
	var numbers []int
	for _, v := range list {
		numbers = append(numbers, v.Order)
	}
	for i, n := range slices.Sorted(slices.Values(numbers)) {
		if n != i+1 {
			faults.Add("decision.victims", "their numbers are %v", numbers)
			return
		}
	}
	same := func(a, b preemption.Victim) bool {
		return a.Workload == b.Workload && slices.Equal(a.Replicas, b.Replicas)
	}
	if !slices.EqualFunc(list, want.Victims, same) {
		return
	}
	for i, v := range list {
		if v.Order != want.Victims[i].Order {
			faults.Add(path(i)+".order", "%d of %q, want %d", v.Order, v.Workload, want.Victims[i].Order)
		}
	}
}

// refusal judges an answer without victims by what the documented search finds.
func (j *judge) refusal(faults *fault.List, want *preemption.Decision) {
	d, r := j.d, j.request
	then := r
	then.Now = d.RetryAt
	switch waits, given := d.Outcome == preemption.Wait, !d.RetryAt.IsZero(); {
	case want.Leaving:
		faults.Add("decision.outcome", "%v, but what leaves already is enough", d.Outcome)
	case len(want.Victims) > 0 || j.otherSets(r):
		faults.Add("decision.outcome", "%v, but %s may yield now", d.Outcome, named(want.Victims))
	case waits && given == (j.config.MaxRetrySteps < 0) && len(d.Assignment) == 0:
		faults.Add("decision.retryAt", "%v: want one if and only if it is asked for", d.RetryAt)
	case waits && given && !d.RetryAt.After(r.Now):
		faults.Add("decision.retryAt", "%v is not after now, %v", d.RetryAt, r.Now)
	case len(d.Assignment) > 0 || waits && !given: // other flavors may be assigned then; or no time is asked for
	case !waits && !want.RetryAt.IsZero():
		faults.Add("decision.outcome", "Impossible, but at %v some may yield", want.RetryAt)
	case !want.RetryAt.IsZero() && want.RetryAt.Before(d.RetryAt):
		faults.Add("decision.retryAt", "%v, but at %v already some may yield", d.RetryAt, want.RetryAt)
	case waits && !want.RetryAt.Equal(d.RetryAt) && !j.isBound() && j.noSetAt(then):
		faults.Add("decision.retryAt", "at %v time has not helped", d.RetryAt)
	}
	if !want.Possible() && !want.Leaving {
		j.reasons(faults, want)
	}
}

// reasons judges what a refusal says of its reasons, if it says anything.
func (j *judge) reasons(faults *fault.List, want *preemption.Decision) {
	if len(j.d.Blockers)+len(j.d.Shortage)+len(j.d.RuleFaults) == 0 {
		return
	}
	theirs, right := witness.Said(j.config, j.state, j.request, *j.d), witness.Said(j.config, j.state, j.request, *want)
	if !slices.Equal(theirs.Shortage, right.Shortage) {
		faults.Add("decision.shortage", "%+v, want %+v", theirs.Shortage, right.Shortage)
	}
	same := func(a, b preemption.Blocker) bool {
		a.Until, b.Until = a.Until.UTC(), b.Until.UTC()
		return a == b
	}
	if !slices.EqualFunc(theirs.Blockers, right.Blockers, same) {
		faults.Add("decision.blockers", "%+v, want %+v", theirs.Blockers, right.Blockers)
	}
	if theirs.NoRoom != right.NoRoom {
		faults.Add("decision.noRoom", "%t, want %t", theirs.NoRoom, right.NoRoom)
	}
	if !slices.Equal(theirs.RuleFaults, right.RuleFaults) {
		faults.Add("decision.ruleFaults", "%q, want %q", theirs.RuleFaults, right.RuleFaults)
	}
}

// best judges that no allowed set is better than victims that are proven to be the best.
func (j *judge) best(faults *fault.List) {
	best, kept, small := witness.Best(j.config, j.state, j.request, mostUnits)
	if kept != nil {
		best = kept
	}
	if own := j.Value(j.d.Victims); small && best != nil && best.Compare(own, j.config.Best.FewestFirst) < 0 {
		faults.Add("decision.proof", "is optimal for %+v, but an allowed set has %+v", own, *best)
	}
}

// proven reports whether an answer claims that no allowed set of victims is better.
func (j *judge) proven() bool { return j.d.Proof != nil && j.d.Proof.Optimal }

// isBound reports whether RetryAt may be too early: the search for it, or that for the best set, may have stopped.
func (j *judge) isBound() bool { return j.config.MaxRetrySteps > 0 || j.config.Best.Steps > 0 }

// mostUnits is the largest number of candidates, replicas counted one by one, of which all sets are looked at.
const mostUnits = 14

// otherSets reports whether an answer of the search Best that is proven misses an allowed set.
func (j *judge) otherSets(r preemption.Request) bool {
	if !j.proven() {
		return false
	}
	best, _, _ := witness.Best(j.config, j.state, r, mostUnits)
	return best != nil
}

// noSetAt reports whether it is known that no set is allowed at an instant, but what the documented search finds.
func (j *judge) noSetAt(r preemption.Request) bool {
	if !j.proven() {
		return true
	}
	best, _, small := witness.Best(j.config, j.state, r, mostUnits)
	return small && best == nil
}

func path(i int) string { return fmt.Sprintf("decision.victims[%d]", i) }

// named lists victims for a message.
func named(victims []preemption.Victim) string {
	var list []string
	for _, v := range victims {
		list = append(list, fmt.Sprintf("%q", v.Workload))
	}
	return cmp.Or(strings.Join(list, ", "), "others than the documented search finds")
}

func allLeaving(list []preemption.Victim) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(v preemption.Victim) bool { return !v.Leaving })
}
