package witness

import (
	"slices"
	"strconv"
	"time"

	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// KEP-13396, PreemptorSelector and CandidateSelector: "accepts a running workload if all its parts do".

// serves: "PreemptorSelector selects the waiting workloads that the rule serves, by their labels. Nil: all.
// PreemptorPriorityClass selects them by the name of their priority class."
func serves(w *world, r *rules.Rule) bool {
	p := &w.request.Workload
	return (r.PreemptorSelector == nil || r.PreemptorSelector.Matches(p.Labels)) && ofClass(r.PreemptorPriorityClass, p.PriorityClass)
}

// ofClass: "MatchNames: Empty: any, and workloads without a class. NotMatchNames: Workloads without a class are
// selected." "Both parts must hold."
func ofClass(s rules.ClassSelector, class string) bool {
	match := len(s.MatchNames) == 0 || class != "" && slices.Contains(s.MatchNames, class)
	return match && (class == "" || !slices.Contains(s.NotMatchNames, class))
}

// accepts reports whether all parts of a selector do but the constraint on quota.
func accepts(w *world, s *rules.CandidateSelector, r *running, at time.Time) bool {
	for i := range s.NumericLabels {
		if !numberHolds(w, &s.NumericLabels[i], r) {
			return false
		}
	}
	return inScope(w, s.Scope, r) && selects(w, s.ClusterQueueSelector, r.home.name) &&
		(s.LabelSelector == nil || s.LabelSelector.Matches(r.Labels)) && priorityHolds(w, &s.Priority, r) && timesHold(w, &s.Time, r, at)
}

// inScope: "Scope says in which queues candidates run, seen from the preemptor's queue."
func inScope(w *world, s rules.Scope, r *running) bool {
	own := r.home == w.own
	switch s {
	case rules.WithinLocalQueue: // "submitted to the same local queue, and runs in the same queue"
		return own && r.LocalQueue != "" && r.LocalQueue == w.request.Workload.LocalQueue
	case rules.WithinClusterQueue:
		return own
	case rules.WithinParentCohort: // "without cohort the own queue"
		return own || w.own.parent != nil && r.home.parent == w.own.parent
	case rules.WithinCohortTree:
		return r.home.root() == w.own.root()
	case rules.AnyClusterQueue:
		return true
	case rules.OtherInParentCohort: // "the same without the own queue"
		return !own && w.own.parent != nil && r.home.parent == w.own.parent
	case rules.OtherInCohortTree:
		return !own && r.home.root() == w.own.root()
	}
	return s == rules.OtherClusterQueue && !own
}

// numberHolds: "NumericLabel requires that a label holds a number, compares it with the preemptor's, and bounds it.
// Fallback is the value of workloads without the label, of the preemptor, too. Unset: such a candidate is refused,
// and such a preemptor has no candidate if there is a Comparison."
func numberHolds(w *world, n *rules.NumericLabel, r *running) bool {
	value, has := number32(n, r.Labels)
	if !has || !within(value, n.MinValue, n.MaxValue) {
		return false
	}
	ours, known := number32(n, w.request.Workload.Labels)
	return n.Comparison == "" || known && n.Comparison.Holds(value, ours)
}

// number32: "A label value that is no decimal integer of 32 bits counts as missing."
func number32(n *rules.NumericLabel, labels map[string]string) (value int64, ok bool) {
	if value, err := strconv.ParseInt(labels[n.Key], 10, 32); err == nil {
		return value, true
	}
	return n.Fallback.Get()
}

func within(value int64, least, most quota.OptionalInt64) bool {
	return least.Or(value) <= value && value <= most.Or(value)
}

// priorityHolds: "Mode says which priorities are compared. MinValue and MaxValue bound the candidate's priority: with
// the mode Base its base priority, else the effective one."
func priorityHolds(w *world, p *rules.Priority, r *running) bool {
	of := (*workload.Workload).EffectivePriority
	if p.Mode == rules.Base {
		of = func(w *workload.Workload) int64 { return w.Priority }
	}
	theirs, ours := of(&r.Workload), of(&w.request.Workload)
	return p.Comparison.Holds(theirs, ours) && within(theirs, p.MinValue, p.MaxValue) && ofClass(p.ClassSelector, r.PriorityClass)
}

// timesHold: "All bounds hold strictly: a minimum is passed one nanosecond after it, and up to then a maximum holds. A
// time that is not known counts as now." The preemptor's execution time "is zero unless the preemptor holds quota".
func timesHold(w *world, t *rules.Times, r *running, at time.Time) bool {
	runs, exists := age(r.ReservedAt, at), age(r.Created, at)
	return longer(runs, t.MinExecutionDuration) && !longerThanMost(runs, t.MaxExecutionDuration) &&
		t.ExecutionTimeRelation.Holds(int64(runs), int64(age(w.holdsSince, at))) &&
		longer(exists, t.MinTimeFromCreationDuration) && !longerThanMost(exists, t.MaxTimeFromCreationDuration) &&
		t.TimeFromCreationRelation.Holds(int64(exists), int64(age(w.request.Workload.Created, at)))
}

func age(since, at time.Time) time.Duration {
	if since.IsZero() {
		return 0
	}
	return at.Sub(since)
}

func longer(d time.Duration, least quota.OptionalDuration) bool {
	bound, set := least.Get()
	return !set || d > bound
}

func longerThanMost(d time.Duration, most quota.OptionalDuration) bool {
	bound, set := most.Get()
	return set && d > bound
}
