package queues

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// stable reports whether stable fair sharing may refuse anybody: it is on, and some queue of
// the tree reclaims from any priority, or the order of equals is not that of the queue.
func (j *judge) stable() bool {
	if !j.Stable {
		return false
	}
	for i := range j.Queues {
		q := &j.Queues[i]
		if n := j.nodes[q.Name]; n.parent != nil && n.root() == j.queue.root() && q.Preemption.ReclaimWithinCohort == queue.Any {
			return true
		}
	}
	return j.NewerByReservation
}

// leavesAnyway: it is being evicted, or yields to an equal because its time is over.
func (j *judge) leavesAnyway(r *running) bool {
	if r.Evicted {
		return true
	}
	least, timed := j.policy.MinAdmitDuration.Get()
	return r.queue == j.queue && r.EffectivePriority() == j.Workload.EffectivePriority() && timed && !j.IgnoreMinAdmitDuration &&
		j.policy.WithinClusterQueue == queue.LowerOrNewerEqualPriority && j.now.Sub(j.reserved(r.Workload)) > least
}

// unstable reports whether the rule of stable fair sharing keeps a workload; see
// preemption.FairSharing.
func (j *judge) unstable(r *running) bool {
	if !j.stable() || j.leavesAnyway(r) {
		return false
	}
	behind := compareRank(&j.Workload, r.Workload) < 0
	if theirs := j.borrower(r); !j.borrower(nil) {
		return !theirs && !behind
	} else if !theirs {
		return true
	}
	return r.EffectivePriority() > j.Workload.EffectivePriority() || r.queue == j.queue && !behind
}

// compareRank orders by priority, then by the time of queueing.
func compareRank(a, b *workload.Workload) int {
	if a.EffectivePriority() != b.EffectivePriority() {
		return cmp.Compare(b.EffectivePriority(), a.EffectivePriority())
	}
	return first(newerThan(b.Queued, a.Queued), newerThan(a.Queued, b.Queued))
}

// borrower reports whether a running workload, or the request for nil, is over the nominal
// quota of its queue, beside those that come before it and are not.
func (j *judge) borrower(of *running) bool {
	asks := &running{Workload: &j.Workload}
	if of == nil {
		of = asks
	}
	left := map[column]int64{}
	for i := range j.Queues {
		if j.Queues[i].Name != of.Queue {
			continue
		}
		for _, q := range j.Queues[i].Quotas {
			left[q.FlavorResource()] = q.Nominal
		}
	}
	list := []*running{of}
	for _, r := range j.running {
		if r.Queue == of.Queue && r != of && (of != asks || r.ID != asks.ID) {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b *running) int {
		return cmp.Or(compareRank(a.Workload, b.Workload), first(a != asks, b != asks), cmp.Compare(a.UID, b.UID), cmp.Compare(a.ID, b.ID), cmp.Compare(a.part, b.part))
	})
	for _, r := range list {
		usage := r.Usage()
		fits := !slices.ContainsFunc(usage, func(a quota.Amount) bool { return a.Amount > 0 && a.Amount > left[a.FlavorResource()] })
		if r == of {
			return !fits
		}
		for _, a := range usage {
			if fits {
				left[a.FlavorResource()] -= a.Amount
			}
		}
	}
	return true
}

// keepsShares reports whether the rule lets one more candidate go with those gone.
func (j *judge) keepsShares(gone []candidate, c candidate) bool {
	equal := func(c candidate) bool {
		return c.EffectivePriority() == j.Workload.EffectivePriority() && !j.leavesAnyway(c.running)
	}
	if !j.stable() || !equal(c) || !j.borrower(nil) {
		return true
	}
	all := append(slices.DeleteFunc(slices.Clone(gone), func(c candidate) bool { return j.leavesAnyway(c.running) }), c)
	more := j.shareOf(j.queue, all, true).Compare(j.shareOf(j.queue, nil, false))
	others := slices.ContainsFunc(all, func(c candidate) bool { return c.queue != j.queue && equal(c) })
	if more < 0 || more == 0 && others {
		return false
	}
	return c.queue == j.queue || j.shareOf(j.queue, nil, true).Compare(j.shareOf(c.queue, all, false)) <= 0
}

// shareOf returns the share of a queue of workloads of at least the request's priority,
// without some of them, with the request or without.
func (j *judge) shareOf(n *node, gone []candidate, asked bool) quota.Share {
	alone := *n
	alone.used = map[column]int64{}
	add := func(list []quota.Amount, times int64) {
		for _, a := range list {
			alone.used[a.FlavorResource()] = quota.Add(alone.used[a.FlavorResource()], times*a.Amount)
		}
	}
	for i := range j.Queues {
		if j.Queues[i].Name == n.name {
			add(j.Queues[i].Reserved, 1)
		}
	}
	for _, r := range j.running {
		if r.queue != n || r.EffectivePriority() < j.Workload.EffectivePriority() ||
			slices.ContainsFunc(gone, func(c candidate) bool { return c.running == r && c.set < 0 }) {
			continue
		}
		add(r.Usage(), 1)
		for _, c := range gone {
			if c.running == r {
				add(r.PodSets[c.set].Requests, -1)
			}
		}
	}
	if asked {
		add(j.asked, 1)
	}
	return alone.share()
}

// unstableOf returns the first victim that the rule does not let go with the others.
func (j *judge) unstableOf(victims []candidate) (c candidate, found bool) {
	for i, c := range victims {
		if !j.keepsShares(slices.Delete(slices.Clone(victims), i, i+1), c) {
			return c, true
		}
	}
	return c, false
}

// ownQuota reports whether the request, which must be counted in, stays within the nominal
// quota of its queue: in what needs preemption, with stable fair sharing in everything.
func (j *judge) ownQuota() bool {
	if !j.Stable {
		return !j.queue.borrows(j.needed)
	}
	within := true
	check := func(c column) { within = within && j.queue.used[c] <= j.queue.subtree(c) }
	j.queue.root().withQuota(check)
	for _, a := range j.asked {
		check(a.FlavorResource())
	}
	return within
}
