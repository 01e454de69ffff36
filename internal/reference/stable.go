package reference

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// stable reports whether stable fair sharing may refuse anything: it is on, and without it victims could take their
// places back, because a queue of the tree reclaims from any priority.
func (q *sharing) stable() bool {
	return q.Config.Sharing == preemption.Stable && q.anyPriority
}

// LeavesAnyway: it was told to stop, or yields to an equal because its time is over.
func (q *sharing) LeavesAnyway(r *Running) bool {
	return r.Evicted || r.At == q.Queue && r.EffectivePriority() == q.priority() && q.timeOver(r)
}

// Unstable reports whether stable fair sharing keeps a workload, whatever else yields; see preemption.Stable.
func (q *sharing) Unstable(r *Running) bool {
	if !q.stable() || q.LeavesAnyway(r) {
		return false
	}
	ahead := compareRank(&q.Request.Workload, r.Workload) >= 0
	if !q.borrower(nil) {
		return ahead && !q.borrower(r)
	}
	return !q.borrower(r) || r.EffectivePriority() > q.priority() || r.At == q.Queue && ahead
}

// compareRank orders by priority, then by the time of queueing.
func compareRank(a, b *workload.Workload) int {
	return cmp.Or(cmp.Compare(b.EffectivePriority(), a.EffectivePriority()), first(later(b.Queued, a.Queued), later(a.Queued, b.Queued)))
}

// borrower reports whether a running workload, or the request for nil, exceeds the nominal quota of its queue beside
// the workloads before it that do not. The request comes after the workloads that it ties with.
func (q *sharing) borrower(of *Running) bool {
	asks := &Running{Workload: &q.Request.Workload, At: q.Queue, takes: make([]int64, len(q.tree.Columns))}
	for _, a := range q.Asked {
		asks.takes[a.Column] = a.Amount
	}
	if of == nil {
		of = asks
	}
	list := []*Running{of}
	for _, r := range q.Running {
		if r.At == of.At && r != of && (of != asks || r.ID != asks.ID) {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b *Running) int {
		return cmp.Or(compareRank(a.Workload, b.Workload), first(a != asks, b != asks),
			cmp.Compare(a.UID, b.UID), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Leaving, b.Leaving))
	})
	held := make([]int64, len(q.tree.Columns))
	for _, r := range list {
		fits := true
		for c, amount := range r.takes {
			fits = fits && (amount == 0 || quota.Add(held[c], amount) <= of.At.Quotas[c].Nominal)
		}
		if r == of {
			return !fits
		}
		for c, amount := range r.takes {
			if fits {
				held[c] = quota.Add(held[c], amount)
			}
		}
	}
	return true
}

// KeepsShares reports whether stable fair sharing lets a candidate go with the victims taken: an equal of a request that
// borrows.
func (q *sharing) KeepsShares(taken []Candidate, c Candidate) bool {
	equal := func(c Candidate) bool { return c.EffectivePriority() == q.priority() && !q.LeavesAnyway(c.Running) }
	if !q.stable() || !equal(c) || !q.borrower(nil) {
		return true
	}
	all := append(slices.DeleteFunc(slices.Clone(taken), func(c Candidate) bool { return q.LeavesAnyway(c.Running) }), c)
	more := q.importantShare(q.Queue, all, true).Compare(q.importantShare(q.Queue, nil, false))
	others := slices.ContainsFunc(all, func(c Candidate) bool { return c.At != q.Queue && equal(c) })
	if more < 0 || more == 0 && others {
		return false
	}
	return c.At == q.Queue || q.importantShare(q.Queue, nil, true).Compare(q.importantShare(c.At, all, false)) <= 0
}

// importantShare is the share of a queue of the workloads of at least the request's priority, without some of them,
// and with the request or without. What leaves already counts as being there.
func (q *sharing) importantShare(n *Node, without []Candidate, asked bool) Share {
	alone := *n
	alone.Used = make([]int64, len(n.Used))
	add := func(c Column, amount int64) { alone.Used[c] = quota.Add(alone.Used[c], amount) }
	for _, a := range n.Queue.Reserved {
		add(q.tree.numbers[a.FlavorResource()], a.Amount)
	}
	for _, r := range q.Running {
		if r.At != n || r.EffectivePriority() < q.priority() {
			continue
		}
		goes := func(c Candidate) bool { return c.Running == r && c.PodSet < 0 }
		if slices.ContainsFunc(without, goes) {
			continue
		}
		for c, amount := range r.takes {
			for _, o := range without {
				if o.Running == r {
					amount -= o.Frees(Column(c))
				}
			}
			add(Column(c), amount)
		}
	}
	if asked {
		for _, a := range q.Asked {
			add(a.Column, a.Amount)
		}
	}
	return alone.Share()
}
