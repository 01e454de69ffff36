package rules

import (
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
)

// QuotaConstraint is a condition on quota and shares, judged when a candidate is taken: those
// taken before are gone then, and the request counts in the preemptor's queue. Empty: none.
// (KEP-13396, future work; it names the constraints, the words below are ours.)
//
// A constraint other than the empty one holds only for a candidate that runs in another queue under
// the same root cohort. This queue must borrow, and so must each cohort between it and the
// lowest cohort above both queues: it uses more than the quota of its subtree of something for
// which preemption is needed. The sides of the two queues are the members of that common cohort
// above them.
type QuotaConstraint string

const (
	// BorrowingCapacityFromPreemptor: the request fits within the quota of the preemptor's queue,
	// or of a cohort above that queue below the common cohort (the field's reclaim; in KEP-83's
	// hierarchical preemption the preemptor has the advantage).
	BorrowingCapacityFromPreemptor QuotaConstraint = "BorrowingCapacityFromPreemptor"
	// DRSLessThanOrEqualToFinalShare: the share of the preemptor's side is at most the share that
	// the candidate's side has without the candidate (KEP-1714, fair sharing).
	DRSLessThanOrEqualToFinalShare QuotaConstraint = "DRSLessThanOrEqualToFinalShare"
	// DRSLessThanInitialShare: the share of the preemptor's side is less than the share that the
	// candidate's side has with the candidate.
	DRSLessThanInitialShare QuotaConstraint = "DRSLessThanInitialShare"
	// DRSAllStrategies: one of the two strategies permits the candidate.
	DRSAllStrategies QuotaConstraint = "DRSAllStrategies"
	// Borrowing: no more than what all of them ask for, that the candidate's queue borrows, and so
	// does each cohort in between. (Ours; borrowWithinCohort asks for that.)
	Borrowing QuotaConstraint = "Borrowing"
)

// QuotaConstraints returns all constraints.
func QuotaConstraints() []QuotaConstraint {
	return []QuotaConstraint{BorrowingCapacityFromPreemptor, DRSLessThanOrEqualToFinalShare, DRSLessThanInitialShare, DRSAllStrategies, Borrowing}
}

// validate finds an unknown constraint, and one of a scope in which it could accept no workload.
func (c QuotaConstraint) validate(faults *fault.List, path string, scope Scope) {
	switch {
	case c == "":
	case !slices.Contains(QuotaConstraints(), c):
		faults.Add(path, "%q is none of %q", c, QuotaConstraints())
	case scope == WithinLocalQueue || scope == WithinClusterQueue:
		faults.Add(path, "%q is not for the scope %q: it holds for other queues", c, scope)
	}
}
