package queues

import (
	"slices"

	"github.com/cedesched/cede/queue/rules"
)

// notAccepted returns, of victims that are all gone, those of a side for which there is no order in
// which each is accepted, with only those before it gone, by a selector that is named; nil if
// there is none. Victims that a selector without a constraint on quota accepts need no order.
//
// Whoever is gone on the preemptor's side of a cohort, only helps the constraints there, and whoever
// is gone on one side changes nothing on another. So each side is judged alone, with all the
// others gone. On a side fewer gone never forbid anybody, so whoever may be last is put last.
func (j *judge) notAccepted(victims []candidate) []candidate {
	sides := map[*node][]candidate{}
	for _, c := range victims {
		if c.isConstrained() {
			_, theirs := j.sides(c)
			sides[theirs] = append(sides[theirs], c)
		}
	}
	for _, c := range victims {
		if !c.isConstrained() {
			continue
		}
		_, theirs := j.sides(c)
		if left := j.leftOn(theirs, sides[theirs], victims); len(left) > 0 {
			return left
		}
	}
	return nil
}

func (c candidate) isConstrained() bool {
	return c.reason == ConfigurablePreemption && !slices.Contains(c.quotas, "")
}

// leftOn is notAccepted for one side.
func (j *judge) leftOn(side *node, constrained, victims []candidate) (left []candidate) {
	free := func(c candidate) bool { return !c.isConstrained() && c.queue.isUnder(side) }
	for _, c := range victims {
		if free(c) {
			j.take(c, -1)
		}
	}
	left = slices.Clone(constrained)
	for again := true; again; {
		again = false
		for i, c := range left {
			if j.take(c, -1); slices.ContainsFunc(c.quotas, func(q rules.QuotaConstraint) bool { return j.holds(c, q) }) {
				left, again = slices.Delete(left, i, i+1), true
				break
			}
			j.take(c, 1)
		}
	}
	for _, c := range victims {
		if free(c) || c.isConstrained() && slices.ContainsFunc(constrained, func(o candidate) bool { return o.running == c.running }) {
			j.take(c, 1)
		}
	}
	return left
}

// holds reports whether a constraint on quota holds for a candidate that is still there.
func (j *judge) holds(c candidate, q rules.QuotaConstraint) bool {
	if q == "" {
		return true
	}
	if c.cohort == nil {
		return false
	}
	for n := c.queue; n != c.cohort; n = n.parent {
		if !n.borrows(j.needed) {
			return false
		}
	}
	switch q {
	case rules.Borrowing:
		return true
	case rules.BorrowingCapacityFromPreemptor:
		ours, _ := j.sides(c)
		return j.advantages()[ours]
	case rules.DRSLessThanOrEqualToFinalShare:
		return j.passes(c, []Strategy{FinalShare})
	case rules.DRSLessThanInitialShare:
		return j.passes(c, []Strategy{InitialShare})
	}
	return q == rules.DRSAllStrategies && j.passes(c, []Strategy{FinalShare, InitialShare})
}
