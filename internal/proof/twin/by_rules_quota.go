package twin

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
)

// quotaHolds returns the constraints on quota that hold for a candidate when those before it are
// gone.
func (d *decision) quotaHolds(before []candidate, c candidate) (set rules.QuotaSet) {
	if c.lca == (node{}) {
		return 0
	}
	if d.setGone(before); !d.borrowsUpTo(node{"queue", c.w.Queue}, c.lca, node{}) {
		return 0
	}
	set = set.With("Borrowing")
	if d.fitsBelow(c.lca) {
		set = set.With("BorrowingCapacityFromPreemptor")
	}
	d.added, d.addedTo = d.asked, d.queue.name
	defer func() { d.added = nil }()
	ours, first := d.sides(c)
	d.setGone(append(slices.Clone(before), c))
	_, after := d.sides(c)
	d.setGone(before)
	if passes(preemption.LessThanOrEqualToFinalShare, ours, first, after) {
		set = set.With("DRSLessThanOrEqualToFinalShare")
	}
	if passes(preemption.LessThanInitialShare, ours, first, after) {
		set = set.With("DRSLessThanInitialShare")
	}
	return set
}

// fitsBelow reports whether the request fits in the quota of the preemptor's queue or of a cohort
// above it, below another cohort. What a node keeps for itself takes a part of the request.
func (d *decision) fitsBelow(lca node) bool {
	rest := slices.Clone(d.asked)
	for n := d.queue; n != lca; n = d.parent(n) {
		over := func(a quota.Amount) bool {
			return quota.Add(d.usage(n, a.FlavorResource()), a.Amount) > d.subtreeQuota(n, a.FlavorResource())
		}
		if !slices.ContainsFunc(rest, over) {
			return true
		}
		for i := range rest {
			rest[i].Amount = max(0, quota.Sub(rest[i].Amount, d.localAvailable(n, rest[i].FlavorResource())))
		}
	}
	return false
}

// acceptsWith reports whether the tier that looks at a candidate accepts it by such constraints.
func (d *decision) acceptsWith(e *rules.Evaluator, c *candidate, set rules.QuotaSet) bool {
	tier, err := e.Tier(c.trigger, &d.request.Workload)
	moment := d.moment(c.trigger)
	moment.Quota = set
	return err == nil && len(tier.Select(&c.w, moment)) > 0
}

// acceptedInSomeOrder reports whether those taken can be taken one after the other in some order, so
// that each one by rules is accepted by a selector that accepted it before.
func (d *decision) acceptedInSomeOrder(taken []candidate, e *rules.Evaluator) bool {
	bound := func(c candidate) bool {
		return c.reason == preemption.ConfigurablePreemption && !d.acceptsWith(e, &c, 0)
	}
	if !slices.ContainsFunc(taken, bound) {
		return true
	}
	return d.inSomeOrder(nil, withoutParts(taken), func(before []candidate, c candidate) bool {
		return !bound(c) || d.acceptsWith(e, &c, c.held&d.quotaHolds(before, c))
	})
}
