package reference

import (
	"slices"
	"strconv"
	"time"

	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// ruled are the rules of an operator, which take victims in the state that the policies leave.
type ruled struct {
	searcher
	observed []rules.Observation // since when triggers have been observed
}

// RulesOf returns the rules of the preemptor's queue; nil if it has none, or the request preempts nothing.
func (q *ruled) RulesOf() *rules.Config {
	for i := range q.State.Rules {
		if c := &q.State.Rules[i]; c.Name == q.Queue.Queue.Rules && !q.Request.Workload.NeverPreempts {
			return c
		}
	}
	return nil
}

// isFor reports whether the selectors of a rule select the preemptor.
func (q *ruled) isFor(r *rules.Rule) bool {
	w := &q.Request.Workload
	return ofLabels(r.PreemptorSelector, w.Labels) && ofClass(&r.PreemptorPriorityClass, w.PriorityClass)
}

// Serves reports whether a rule is looked at for the preemptor if its trigger holds.
func (q *ruled) Serves(r *rules.Rule) bool {
	if wait := r.ActivationPolicy.MinTriggerRequiredDuration.Or(0); wait > 0 {
		since, observed := q.since(r.ActivationPolicy.Trigger)
		if !observed || !q.Now.After(since.Add(wait)) {
			return false
		}
	}
	return q.isFor(r)
}

// since returns since when a trigger has been observed.
func (q *ruled) since(trigger rules.Trigger) (since time.Time, observed bool) {
	for _, o := range q.observed {
		if o.Trigger == trigger {
			return o.Since, true
		}
	}
	return since, false
}

func ofLabels(s *workload.LabelSelector, labels map[string]string) bool {
	return s == nil || s.Matches(labels)
}

func ofClass(s *rules.ClassSelector, class string) bool {
	if class == "" {
		return len(s.MatchNames) == 0
	}
	return !slices.Contains(s.NotMatchNames, class) && (len(s.MatchNames) == 0 || slices.Contains(s.MatchNames, class))
}

// Selects reports whether a selector accepts a running workload, if its constraint on quota holds.
func (q *ruled) Selects(s *rules.CandidateSelector, r *Running) bool {
	p, t, mine := &s.Priority, &s.Time, &q.Request.Workload
	theirs, ours, value := int64(0), int64(0), r.EffectivePriority()
	switch p.Mode {
	case rules.Base:
		theirs, ours, value = r.Priority, mine.Priority, r.Priority
	case rules.Boosted:
		theirs, ours = r.EffectivePriority(), mine.EffectivePriority()
	}
	return q.inScope(s.Scope, r) && ofLabels(s.ClusterQueueSelector, r.At.Queue.Labels) && ofLabels(s.LabelSelector, r.Labels) &&
		ofClass(&p.ClassSelector, r.PriorityClass) && related(p.Comparison, theirs, ours) && bounded(value, p.MinValue, p.MaxValue) &&
		!slices.ContainsFunc(s.NumericLabels, func(n rules.NumericLabel) bool { return !q.ofNumber(&n, r) }) &&
		q.inTime(r.ReservedAt, mine.ReservedAt, t.MinExecutionDuration, t.MaxExecutionDuration, t.ExecutionTimeRelation) &&
		q.inTime(r.Created, mine.Created, t.MinTimeFromCreationDuration, t.MaxTimeFromCreationDuration, t.TimeFromCreationRelation)
}

// inScope reports whether a workload runs in the scope of a selector.
func (q *ruled) inScope(s rules.Scope, r *Running) bool {
	return q.hasScope(s, r.At) && (s != rules.WithinLocalQueue || r.LocalQueue != "" && r.LocalQueue == q.Request.Workload.LocalQueue)
}

// hasScope reports whether the scope of a selector has a queue; of the local queue, the preemptor's.
func (q *ruled) hasScope(s rules.Scope, n *Node) bool {
	own, parent := n == q.Queue, n.Parent != nil && n.Parent == q.Queue.Parent
	tree := n.Parent != nil && n.root() == q.Queue.root()
	switch s {
	case rules.WithinLocalQueue, rules.WithinClusterQueue:
		return own
	case rules.WithinParentCohort:
		return own || parent
	case rules.WithinCohortTree:
		return own || tree
	case rules.AnyClusterQueue:
		return true
	case rules.OtherInParentCohort:
		return !own && parent
	case rules.OtherInCohortTree:
		return !own && tree
	}
	return s == rules.OtherClusterQueue && !own
}

func bounded(value int64, least, most quota.OptionalInt64) bool {
	return value >= least.Or(value) && value <= most.Or(value)
}

func related(c rules.Comparison, theirs, ours int64) bool {
	switch c {
	case rules.LessThan:
		return theirs < ours
	case rules.LessThanOrEqual:
		return theirs <= ours
	case rules.GreaterThan:
		return theirs > ours
	case rules.GreaterThanOrEqual:
		return theirs >= ours
	}
	return c == ""
}

// ofNumber reads a numeric label of both.
func (q *ruled) ofNumber(n *rules.NumericLabel, r *Running) bool {
	read := func(labels map[string]string) (int64, bool) {
		if value, err := strconv.ParseInt(labels[n.Key], 10, 32); err == nil {
			return value, true
		}
		return n.Fallback.Get()
	}
	theirs, ok := read(r.Labels)
	ours, comparable := read(q.Request.Workload.Labels)
	return ok && bounded(theirs, n.MinValue, n.MaxValue) && (n.Comparison == "" || comparable && related(n.Comparison, theirs, ours))
}

// inTime reads the bounds of a time. A time that is not known is now.
func (q *ruled) inTime(theirs, ours time.Time, least, most quota.OptionalDuration, c rules.Comparison) bool {
	if theirs.IsZero() {
		theirs = q.Now
	}
	if ours.IsZero() {
		ours = q.Now
	}
	if d, ok := least.Get(); ok && !q.Now.After(theirs.Add(d)) {
		return false
	}
	if d, ok := most.Get(); ok && q.Now.After(theirs.Add(d)) {
		return false
	}
	return related(c, int64(q.Now.Sub(theirs)), int64(q.Now.Sub(ours)))
}
