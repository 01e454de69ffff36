package selectors

import (
	"slices"

	"github.com/cedesched/cede/queue/rules"
)

// QuotaSet is a set of constraints that hold for a candidate. The zero value is that none does,
// except the empty one, which always holds.
type QuotaSet uint8

// AllQuota returns the set of all constraints.
func AllQuota() QuotaSet { return 15 }

// bits returns the constraints that are enough for another.
func bitsOf(c rules.QuotaConstraint) QuotaSet {
	switch c {
	case rules.BorrowingCapacityFromPreemptor:
		return 1
	case rules.DRSLessThanOrEqualToFinalShare:
		return 2
	case rules.DRSLessThanInitialShare:
		return 4
	case rules.DRSAllStrategies:
		return 2 | 4
	case rules.Borrowing:
		return 8
	}
	return 0
}

// With returns the set with a constraint. [rules.DRSAllStrategies] is both strategies.
func (s QuotaSet) With(c rules.QuotaConstraint) QuotaSet { return s | bitsOf(c) }

// Meets reports whether a constraint holds; an unknown one never does.
func (s QuotaSet) Meets(c rules.QuotaConstraint) bool { return c == "" || s&bitsOf(c) != 0 }

// readsShares reports whether a configuration compares shares.
func readsShares(c *rules.Config) bool {
	return slices.ContainsFunc(c.Ordering, func(o rules.Ordering) bool { return o.Key.OfShares() }) ||
		slices.ContainsFunc(c.Rules, func(r rules.Rule) bool {
			return slices.ContainsFunc(r.CandidateSelectors, func(s rules.CandidateSelector) bool {
				return bitsOf(s.Quota)&bitsOf(rules.DRSAllStrategies) != 0
			})
		})
}
