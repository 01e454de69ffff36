// Package asrules writes the policies of queues as preemption rules that decide the same. It
// serves those who want to go from policies to rules step by step, and tests that compare both.
//
//	ruled, config := asrules.Of(state, preemption.Config{})
//	if reasons := asrules.Unsaid(state, request, preemption.Config{}); len(reasons) == 0 {
//		// ruled decides about the request as state does
//	}
//
// [Classical] and [Fair] write one policy. [Unsaid] lists where rules cannot say the same: each
// reason is a predicate on the question, and docs/departures.md lists them.
//
// Nothing here fails: a policy that is not valid makes rules that are not, and
// preemption.NewSnapshot says so. The zero policy, which preempts nothing, makes rules that accept
// no workload.
//
// Sources: KEP-83 for the policies, KEP-13396 for the rules.
package asrules

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
)

// Of returns a state whose queues have rules in place of their policies, and the configuration that
// decides by these alone. The state shares memory with the given one.
func Of(st preemption.State, c preemption.Config) (preemption.State, preemption.Config) {
	st.Queues, st.Rules = slices.Clone(st.Queues), nil
	for i := range st.Queues {
		q := &st.Queues[i]
		q.Rules = "as-" + q.Name
		r := Classical(q.Preemption)
		if c.Sharing != preemption.Classical {
			r = Fair(q.Preemption, c)
		}
		r.Name, q.Preemption = q.Rules, queue.PreemptionPolicy{}
		st.Rules = append(st.Rules, r)
	}
	c.Compat.RulesAlone, c.Sharing, c.Strategies = true, preemption.Classical, nil
	return st, c
}

var lower = rules.Priority{Mode: rules.Boosted, Comparison: rules.LessThan}

// within returns the selectors of the policy within the queue.
func within(p queue.PreemptionPolicy) (list []rules.CandidateSelector) {
	s := rules.CandidateSelector{Scope: rules.WithinClusterQueue, Priority: lower}
	switch p.WithinClusterQueue {
	case queue.LowerPriority:
		return []rules.CandidateSelector{s}
	case queue.LowerOrNewerEqualPriority:
		equal := s
		equal.Priority.Comparison, equal.Time.TimeFromCreationRelation = rules.LessThanOrEqual, rules.LessThan
		list = append(list, s, equal)
		if d, ok := p.MinAdmitDuration.Get(); ok {
			over := s
			over.Priority.Comparison, over.Time.MinExecutionDuration = rules.LessThanOrEqual, quota.Some(d)
			list = append(list, over)
		}
	}
	return list
}

// reclaim returns a selector of other queues of the tree by the policy; ok is false for Never.
func reclaim(p queue.PreemptionPolicy, by rules.QuotaConstraint) (s rules.CandidateSelector, ok bool) {
	s = rules.CandidateSelector{Scope: rules.OtherInCohortTree, Quota: by}
	if p.ReclaimWithinCohort == queue.LowerPriority {
		s.Priority = lower
	}
	return s, p.ReclaimWithinCohort != queue.Never
}

// Classical writes a policy in classical sharing as one rule.
func Classical(p queue.PreemptionPolicy) rules.Config {
	r := rules.Rule{Name: "policy", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: within(p)}
	if s, ok := reclaim(p, rules.BorrowingCapacityFromPreemptor); ok {
		r.CandidateSelectors = append(r.CandidateSelectors, s)
		if p.BorrowWithinCohort.Policy != queue.Never {
			s.Quota, s.Priority = rules.Borrowing, lower
			s.Priority.MaxValue = p.BorrowWithinCohort.MaxPriorityThreshold
			r.CandidateSelectors = append(r.CandidateSelectors, s)
		}
	}
	return rules.Config{Rules: []rules.Rule{r}}
}

// Fair writes a policy in fair sharing as rules: a tier for each strategy of a configuration.
func Fair(p queue.PreemptionPolicy, of preemption.Config) rules.Config {
	c := rules.Config{Ordering: []rules.Ordering{
		{Key: rules.ByQueueShare, Direction: rules.Descending}, {Key: rules.ByOtherQueue, Direction: rules.Descending},
		{Key: rules.ByPriority}, {Key: rules.ByAdmission, Direction: rules.Descending},
	}}
	first := rules.Rule{Name: "first", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: within(p)}
	if s, ok := reclaim(p, rules.BorrowingCapacityFromPreemptor); ok && !of.Compat.Kueue016 {
		first.CandidateSelectors = append(first.CandidateSelectors, s)
	}
	strategies := of.Strategies
	if len(strategies) == 0 {
		strategies = []preemption.FairStrategy{preemption.LessThanOrEqualToFinalShare, preemption.LessThanInitialShare}
	}
	constraint := map[preemption.FairStrategy]rules.QuotaConstraint{
		preemption.LessThanOrEqualToFinalShare: rules.DRSLessThanOrEqualToFinalShare, preemption.LessThanInitialShare: rules.DRSLessThanInitialShare,
	}
	s, ok := reclaim(p, constraint[strategies[0]])
	if ok {
		first.CandidateSelectors = append(first.CandidateSelectors, s)
	}
	c.Rules = append(c.Rules, first)
	if ok && len(strategies) > 1 {
		s.Quota = constraint[strategies[1]]
		c.Rules = append(c.Rules, rules.Rule{
			Name: "second", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.InsufficientQuota}, CandidateSelectors: []rules.CandidateSelector{s},
		})
	}
	return c
}
