package queues

import (
	"slices"
	"strconv"
	"time"

	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// rulesOf returns the rules of the preemptor's queue; nil if it has none.
func (j *judge) rulesOf() *rules.Config {
	for _, q := range j.Queues {
		for i := range j.Rules {
			if q.Name == j.Workload.Queue && j.Rules[i].Name == q.Rules {
				return &j.Rules[i]
			}
		}
	}
	return nil
}

// isFor reports whether the selectors of a rule select the preemptor.
func (j *judge) isFor(r *rules.Rule) bool {
	return ofLabels(r.PreemptorSelector, j.Workload.Labels) && ofClass(&r.PreemptorPriorityClass, j.Workload.PriorityClass)
}

// serves reports whether a rule is looked at for the preemptor if its trigger holds.
func (j *judge) serves(r *rules.Rule) bool {
	if wait := r.ActivationPolicy.MinTriggerRequiredDuration.Or(0); wait > 0 {
		if since, observed := j.sinceOf(r.ActivationPolicy.Trigger); !observed || !j.now.After(since.Add(wait)) {
			return false
		}
	}
	return j.isFor(r)
}

// sinceOf returns since when a trigger has been observed, as the judge has it.
func (j *judge) sinceOf(trigger rules.Trigger) (since time.Time, observed bool) {
	for _, o := range j.observed {
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

// selects reports whether a selector accepts a running workload. One that is bad accepts nobody.
func (j *judge) selects(s *rules.CandidateSelector, r *running) bool {
	var labels map[string]string
	for _, q := range j.Queues {
		if q.Name == r.Queue {
			labels = q.Labels
		}
	}
	p := &s.Priority
	theirs, ours, value := int64(0), int64(0), r.EffectivePriority()
	switch p.Mode {
	case rules.Base:
		theirs, ours, value = r.Priority, j.Workload.Priority, r.Priority
	case rules.Boosted:
		theirs, ours = r.EffectivePriority(), j.Workload.EffectivePriority()
	}
	return j.inScope(s.Scope, r) && ofLabels(s.ClusterQueueSelector, labels) && ofLabels(s.LabelSelector, r.Labels) &&
		ofClass(&p.ClassSelector, r.PriorityClass) && related(p.Comparison, theirs, ours) && bounded(value, p.MinValue, p.MaxValue) &&
		!slices.ContainsFunc(s.NumericLabels, func(n rules.NumericLabel) bool { return !j.ofNumber(&n, r) }) &&
		j.inTime(r.ReservedAt, j.Workload.ReservedAt, s.Time.MinExecutionDuration, s.Time.MaxExecutionDuration, s.Time.ExecutionTimeRelation) &&
		j.inTime(r.Created, j.Workload.Created, s.Time.MinTimeFromCreationDuration, s.Time.MaxTimeFromCreationDuration, s.Time.TimeFromCreationRelation)
}

func (j *judge) inScope(s rules.Scope, r *running) bool {
	own, parent := r.queue == j.queue, r.queue.parent != nil && r.queue.parent == j.queue.parent
	tree := r.queue.parent != nil && r.queue.root() == j.queue.root()
	switch s {
	case rules.WithinLocalQueue:
		return own && r.LocalQueue != "" && r.LocalQueue == j.Workload.LocalQueue
	case rules.WithinClusterQueue:
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
func (j *judge) ofNumber(n *rules.NumericLabel, r *running) bool {
	read := func(labels map[string]string) (int64, bool) {
		if value, err := strconv.ParseInt(labels[n.Key], 10, 32); err == nil {
			return value, true
		}
		return n.Fallback.Get()
	}
	theirs, ok := read(r.Labels)
	ours, comparable := read(j.Workload.Labels)
	return ok && bounded(theirs, n.MinValue, n.MaxValue) && (n.Comparison == "" || comparable && related(n.Comparison, theirs, ours))
}

// inTime reads the bounds of a time. One that is not known is now.
func (j *judge) inTime(theirs, ours time.Time, least, most quota.OptionalDuration, c rules.Comparison) bool {
	if theirs.IsZero() {
		theirs = j.now
	}
	if ours.IsZero() {
		ours = j.now
	}
	if d, ok := least.Get(); ok && !j.now.After(theirs.Add(d)) {
		return false
	}
	if d, ok := most.Get(); ok && j.now.After(theirs.Add(d)) {
		return false
	}
	return related(c, int64(j.now.Sub(theirs)), int64(j.now.Sub(ours)))
}
