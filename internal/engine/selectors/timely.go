package selectors

import (
	"time"

	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Moment is the time at which a tier is asked, and what the quota says then. The zero value: times
// are not known, no rule with a minimum trigger duration is looked at, and no constraint on quota
// holds.
type Moment struct {
	Now time.Time
	// Since is when the trigger of the tier was first observed, without a break since then. Zero:
	// it counts from Now.
	Since time.Time
	// Quota holds the constraints on quota that hold for the candidate.
	Quota QuotaSet
}

// holds reports whether the times accept a candidate.
func holds(t *rules.Times, candidate *workload.Workload, by *preemptorView, now time.Time) bool {
	return within(since(candidate.ReservedAt, now), since(by.reservedAt, now), t.MinExecutionDuration, t.MaxExecutionDuration, t.ExecutionTimeRelation) &&
		within(since(candidate.Created, now), since(by.created, now), t.MinTimeFromCreationDuration, t.MaxTimeFromCreationDuration, t.TimeFromCreationRelation)
}

func since(at, now time.Time) time.Duration {
	if at.IsZero() {
		return 0
	}
	return now.Sub(at)
}

func within(theirs, ours time.Duration, least, most quota.OptionalDuration, c rules.Comparison) bool {
	if min, ok := least.Get(); ok && theirs <= min {
		return false
	}
	if max, ok := most.Get(); ok && theirs > max {
		return false
	}
	return c.Holds(int64(theirs), int64(ours))
}

// changes calls yield with the first instants at which the verdict of the times may be another.
func changes(t *rules.Times, candidate *workload.Workload, by *preemptorView, yield func(time.Time)) {
	for _, of := range [...]struct {
		theirs, ours time.Time
		least, most  quota.OptionalDuration
		compare      rules.Comparison
	}{
		{candidate.ReservedAt, by.reservedAt, t.MinExecutionDuration, t.MaxExecutionDuration, t.ExecutionTimeRelation},
		{candidate.Created, by.created, t.MinTimeFromCreationDuration, t.MaxTimeFromCreationDuration, t.TimeFromCreationRelation},
	} {
		for _, d := range [...]quota.OptionalDuration{of.least, of.most} {
			if d, ok := d.Get(); ok && !of.theirs.IsZero() {
				yield(of.theirs.Add(d).Add(1))
			}
		}
		if of.compare == "" || of.theirs.IsZero() == of.ours.IsZero() {
			continue // both or none of them grow
		}
		at := of.theirs
		if at.IsZero() {
			at = of.ours
		}
		yield(at)
		yield(at.Add(1))
	}
}
