package witness

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
)

// KEP-13396, future work, constraints on quota: docs/designs/rules.md, Quota and shares.

// constraintHolds: "It is judged when a candidate is taken: those taken before are gone, and the request counts in the
// preemptor's queue. It holds only for candidates of other queues under the same root cohort, whose queue borrows
// something that needs preemption, and so does each cohort between that queue and the lowest common one."
func (s *ruleSearch) constraintHolds(q rules.QuotaConstraint, c *candidate) bool {
	if q == "" {
		return true
	}
	if c.of.home == s.own || c.meet == nil || !c.of.home.borrowsBelow(c.meet, s.needs) {
		return false
	}
	s.own.asking = s.asked
	defer func() { s.own.asking = nil }()
	shares := &fairSearch{world: s.world}
	final := shares.permits(preemption.LessThanOrEqualToFinalShare, c)
	initial := shares.permits(preemption.LessThanInitialShare, c)
	switch q {
	case rules.BorrowingCapacityFromPreemptor:
		return s.hasCapacity(c.meet)
	case rules.DRSLessThanOrEqualToFinalShare:
		return final
	case rules.DRSLessThanInitialShare:
		return initial
	case rules.DRSAllStrategies: // "one of these two holds"
		return final || initial
	}
	return q == rules.Borrowing // "always"
}

// hasCapacity: "the request fits within the quota of its queue, or of a cohort above it below the common one".
func (s *ruleSearch) hasCapacity(common *node) bool {
	for n := s.own; n != common; n = n.parent {
		exceeds := func(fr column) bool { return n.borrows(fr) }
		if !slices.ContainsFunc(askedColumns(s.world), exceeds) {
			return true
		}
	}
	return false
}

func askedColumns(w *world) (list []column) {
	for fr := range w.asked {
		list = append(list, fr)
	}
	return list
}

// acceptedInSomeOrder: "there is an order of the victims in which each is accepted, with only those before it gone, by
// a selector that accepted it when it was taken". All of them are removed before and after.
func (s *ruleSearch) acceptedInSomeOrder(victims []*candidate) bool {
	return len(s.outOfOrder(victims, s.stillAccepted)) == 0
}

// stillAccepted reports whether a selector accepts a victim that accepted it when it was taken: one of the tier that
// took it.
func (s *ruleSearch) stillAccepted(c *candidate) bool {
	return len(c.byRules) == 0 || slices.ContainsFunc(c.byRules, func(by preemption.VictimRule) bool {
		if by.Trigger != c.byRules[0].Trigger {
			return false
		}
		at := slices.IndexFunc(s.rules.Rules, func(r rules.Rule) bool { return r.Name == by.Rule })
		return slices.ContainsFunc(by.Selectors, func(k int) bool {
			return s.constraintHolds(s.rules.Rules[at].CandidateSelectors[k].Quota, c)
		})
	})
}
