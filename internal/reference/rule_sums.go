package reference

import (
	"math"
	"slices"

	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// upTo is the highest effective priority that a selector may accept, if its constraint on quota holds.
type upTo struct {
	quota rules.QuotaConstraint
	most  int64
}

func isFree(u upTo) bool { return u.quota == "" }

// reachOfRules says up to which priority the selectors of the rules may accept workloads of the own queue, and of others.
func (q *ruled) reachOfRules() (own, others []upTo) {
	for _, trigger := range rules.Triggers() {
		if len(q.BadSelectors(trigger)) > 0 {
			continue
		}
		for _, rule := range q.RulesOf().Rules {
			if rule.ActivationPolicy.Trigger != trigger || !q.isFor(&rule) {
				continue
			}
			for i := range rule.CandidateSelectors {
				s := &rule.CandidateSelectors[i]
				most, any := q.mostOf(s)
				if any && q.mayAccept(s, q.Queue) {
					own = append(own, upTo{s.Quota, most})
				}
				if any && q.mayAcceptElsewhere(s) {
					others = append(others, upTo{s.Quota, most})
				}
			}
		}
	}
	return own, others
}

// sumByRules lists the workloads of a priority that some selector of the rules may accept, whatever else protects them:
// in the own queue, if some selector there has no constraint on quota, and in queues that are reached; in all queues if
// some selector for others has no constraint.
func (q *ruled) sumByRules(reaches func(n, cohort *Node) bool) (gone []Candidate) {
	own, others := q.reachOfRules()
	if !slices.ContainsFunc(own, isFree) {
		own = nil
	}
	anywhere := slices.ContainsFunc(others, isFree)
	add := func(from *Node, list []upTo, advantage bool) {
		for _, r := range q.Running {
			cohort := common(q.Queue, r.At)
			within := r.At == q.Queue && from == q.Queue ||
				cohort != nil && cohort == from && !inactive(r.At) && (anywhere || reaches(r.At, cohort))
			if within && !neverYields(r) && slices.ContainsFunc(list, func(u upTo) bool {
				return r.EffectivePriority() <= u.most && (advantage || u.quota != rules.BorrowingCapacityFromPreemptor)
			}) {
				gone = append(gone, Candidate{Running: r, PodSet: -1})
			}
		}
	}
	add(q.Queue, own, true)
	for below, n := q.Queue, q.Queue.Parent; n != nil; below, n = n, n.Parent {
		q.Take(gone...)
		advantage := q.fitsBelow()[below]
		q.Return(gone...)
		add(n, others, advantage)
	}
	return gone
}

// mostOf returns the highest effective priority that a selector may accept.
func (q *ruled) mostOf(s *rules.CandidateSelector) (most int64, any bool) {
	most = s.Priority.MaxValue.Or(math.MaxInt64)
	switch {
	case s.Priority.Mode == rules.Base:
		return math.MaxInt64, true // whatever the boosts
	case s.Priority.Mode != rules.Boosted:
	case s.Priority.Comparison == rules.LessThanOrEqual:
		most = min(most, q.priority())
	case s.Priority.Comparison == rules.LessThan && q.priority() == math.MinInt64:
		return 0, false
	case s.Priority.Comparison == rules.LessThan:
		most = min(most, q.priority()-1)
	}
	return most, true
}

// mayAccept reports whether the scope and the labels of a selector may accept a workload of a queue.
func (q *ruled) mayAccept(s *rules.CandidateSelector, n *Node) bool {
	return q.hasScope(s.Scope, n) && ofLabels(s.ClusterQueueSelector, n.Queue.Labels) && (!asks(s) || q.hasAsked(s, n))
}

// mayAcceptElsewhere is mayAccept for some other queue. Without a label or class that it asks for, only the scope counts.
func (q *ruled) mayAcceptElsewhere(s *rules.CandidateSelector) bool {
	if !asks(s) {
		return s.Scope != rules.WithinLocalQueue && s.Scope != rules.WithinClusterQueue
	}
	return slices.ContainsFunc(q.Running, func(r *Running) bool { return r.At != q.Queue && q.mayAccept(s, r.At) })
}

// asks reports whether a selector asks for a label with one of some values, or for one of some classes.
func asks(s *rules.CandidateSelector) bool {
	l := s.LabelSelector
	return len(s.Priority.MatchNames) > 0 || l != nil && (len(l.MatchLabels) > 0 || asksIn(l) != nil)
}

// hasAsked reports whether a workload of a queue has what a selector asks for: the first label by key; without one,
// a label with one of the values of the first expression with In; without one, one of the classes.
func (q *ruled) hasAsked(s *rules.CandidateSelector, n *Node) bool {
	return slices.ContainsFunc(q.Running, func(r *Running) bool {
		switch l := s.LabelSelector; {
		case r.At != n:
			return false
		case l != nil && len(l.MatchLabels) > 0:
			first := ""
			for key := range l.MatchLabels {
				if first == "" || key < first {
					first = key
				}
			}
			value, has := r.Labels[first]
			return has && value == l.MatchLabels[first]
		case l != nil && asksIn(l) != nil:
			in := asksIn(l)
			value, has := r.Labels[in.Key]
			return has && slices.Contains(in.Values, value)
		}
		return slices.Contains(s.Priority.MatchNames, r.PriorityClass)
	})
}

func asksIn(s *workload.LabelSelector) *workload.LabelRequirement {
	for i := range s.MatchExpressions {
		if r := &s.MatchExpressions[i]; r.Operator == workload.In && len(r.Values) > 0 {
			return r
		}
	}
	return nil
}
