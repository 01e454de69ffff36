package reference

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
)

// Constraints are the constraints on quota that are not made of others.
var Constraints = [...]rules.QuotaConstraint{
	rules.Borrowing, rules.BorrowingCapacityFromPreemptor, rules.DRSLessThanOrEqualToFinalShare, rules.DRSLessThanInitialShare,
}

// Parts returns the simple constraints of which one must hold for a constraint.
func Parts(c rules.QuotaConstraint) []rules.QuotaConstraint {
	switch c {
	case "":
		return nil
	case rules.DRSAllStrategies:
		return []rules.QuotaConstraint{rules.DRSLessThanOrEqualToFinalShare, rules.DRSLessThanInitialShare}
	}
	return []rules.QuotaConstraint{c}
}

// meets reports whether a constraint holds if certain simple constraints do.
func meets(held []rules.QuotaConstraint, c rules.QuotaConstraint) bool {
	return c == "" || slices.ContainsFunc(Parts(c), func(p rules.QuotaConstraint) bool { return slices.Contains(held, p) })
}

// Holds reports whether a simple constraint on quota holds for a candidate after what is taken. All of them want the
// candidate's queue, and each cohort below the common one, to borrow what needs preemption.
func (q *ruled) Holds(c Candidate, constraint rules.QuotaConstraint) bool {
	if c.Cohort == nil || !borrowsUpTo(c.At, c.Cohort, q.Needed) {
		return false
	}
	switch constraint {
	case rules.BorrowingCapacityFromPreemptor:
		ours, _ := q.Sides(c)
		return q.fitsBelow()[ours]
	case rules.DRSLessThanOrEqualToFinalShare:
		return q.Passes(c, preemption.LessThanOrEqualToFinalShare)
	case rules.DRSLessThanInitialShare:
		return q.Passes(c, preemption.LessThanInitialShare)
	}
	return constraint == rules.Borrowing
}

// holding lists the simple constraints that hold for a candidate.
func (q *ruled) holding(c Candidate) (list []rules.QuotaConstraint) {
	for _, constraint := range Constraints {
		if q.Holds(c, constraint) {
			list = append(list, constraint)
		}
	}
	return list
}

// HoldsStill reports whether a constraint by which rules accepted a victim still holds.
func (q *ruled) HoldsStill(c Candidate) bool {
	return slices.ContainsFunc(c.ByRule.Bound, func(b rules.QuotaConstraint) bool { return q.Holds(c, b) })
}

// IsConstrained reports whether rules took a candidate only by constraints on quota.
func (c Candidate) IsConstrained() bool {
	return c.OfRules() && !c.ByRule.Free
}

// NotAccepted returns the victims of the first side that has no order in which each victim is accepted after the
// victims before it, by a constraint that accepted it; nil: every side has one. All victims are taken. What is taken
// on the preemptor's side of a cohort only helps the constraints there, and what is taken on one side changes nothing
// on another. So each side is judged alone, with all others taken. On a side a candidate that is accepted stays so
// with fewer victims taken, so a victim that may be the last is put last.
func (q *ruled) NotAccepted(victims []Candidate) []Candidate {
	constrained := func(c Candidate) bool { return c.IsConstrained() && !c.GoesWhole(victims) }
	for _, list := range q.bySide(victims, constrained) {
		if left := q.leftOn(list, victims); len(left) > 0 {
			return left
		}
	}
	return nil
}

// leftOn returns the victims of one side that may not be taken after the others.
func (q *ruled) leftOn(list, victims []Candidate) []Candidate {
	_, side := q.Sides(list[0])
	var free []Candidate
	for _, c := range victims {
		if !c.IsConstrained() && c.At.IsUnder(side) || c.IsConstrained() && c.GoesWhole(victims) {
			free = append(free, c)
		}
	}
	q.Return(free...)
	defer q.Take(free...)
	return q.OutOfOrder(list, q.HoldsStill)
}
