package fairshare

import (
	"slices"

	"github.com/cedesched/cede/quota"
)

// May says whether the reclaimer's queue is entitled to what the reclaimer requests: with it, the
// queue is within its fair share of every resource, also of those that are not requested. What can
// never be preempted has to be within the quota, too. May fails on an unknown queue or resource and
// on an amount that is negative or too large.
func (r *Reclaim) May(in Reclaimer) (Refusal, error) {
	a, _, err := r.ask(in, nil)
	if err != nil {
		return Refusal{}, err
	}
	own := a.own()
	for i, s := range r.division.queues[own].shares {
		if quota.Add(s.Usage, a.requests[i]) > s.FairShare {
			return r.refusal(FairShare, own, i), nil
		}
	}
	return a.keepsQuota(own, true), nil
}

// MayPreempt says whether the reclaimer may preempt in its own queue, of which shares are no part: what
// can never be preempted has to be within the quotas of its queue and of all above, of the resources
// that are requested. MayPreempt fails as May does.
func (r *Reclaim) MayPreempt(in Reclaimer) (Refusal, error) {
	a, _, err := r.ask(in, nil)
	if err != nil {
		return Refusal{}, err
	}
	for q := a.own(); q >= 0; q = r.division.queues[q].parent {
		if refused := a.keepsQuota(q, false); refused != (Refusal{}) {
			return refused, nil
		}
	}
	return Refusal{}, nil
}

// Candidate says whether pods of a queue may be victims at all. Of the two siblings above reclaimer
// and victim: if with the reclaimer the one exceeds its quota of some resource, the other has to hold
// more than is allocatable to it of some resource. Else the quotas of what is requested decide: the
// other has to exceed one of them, or to use all of them up. Candidate fails as May does.
func (r *Reclaim) Candidate(in Reclaimer, queue string) (Refusal, error) {
	a, units, err := r.ask(in, []Unit{{Queue: queue}})
	if err != nil {
		return Refusal{}, err
	}
	own, other, ok := a.apart(units[0].path)
	if !ok {
		return Refusal{Rule: SameBranch, Queue: queue}, nil
	}
	to := &r.division.queues[other]
	switch {
	case a.withinQuota(own):
		if over, under := a.comparesQuotas(to); under >= 0 && !over {
			return r.refusal(NotOver, other, under), nil
		}
	case !slices.ContainsFunc(to.shares, func(s Share) bool { return s.Usage > s.Allocatable }):
		return r.refusal(NotOver, other, -1), nil
	}
	return Refusal{}, nil
}

// Allows says whether units may yield to the reclaimer, in this order. Before each of them leaves, the
// sibling above it has to hold more than is allocatable to it, or, if the reclaimer is within the
// quotas of the sibling above it, more than its own quota, of some resource. So the last unit may
// bring it below. A unit leaves it with less: of the units of one sibling the last alone decides. In
// the end [Saturation] holds from the reclaimer's queue up, and so do the quotas for what can never be
// preempted. Allows fails as May does.
func (r *Reclaim) Allows(in Reclaimer, units []Unit) (Refusal, error) {
	a, list, err := r.ask(in, units)
	if err != nil {
		return Refusal{}, err
	}
	n := len(r.division.resources)
	lost, involved := make([][]int64, len(r.division.queues)), slices.Clone(a.requests)
	for i := range lost {
		lost[i] = make([]int64, n)
	}
	for _, u := range list {
		own, other, ok := a.apart(u.path)
		switch {
		case !ok:
			return Refusal{Rule: SameBranch, Queue: r.division.queues[u.path[len(u.path)-1]].Name}, nil
		case !a.yields(own, other, lost[other]):
			return r.refusal(NotOver, other, -1), nil
		}
		for i, amount := range u.usage {
			involved[i] = quota.Add(involved[i], amount)
			for _, q := range u.path {
				lost[q][i] = quota.Add(lost[q][i], amount)
			}
		}
	}
	for own := a.own(); own >= 0; own = r.division.queues[own].parent {
		if refused := a.keepsQuota(own, true); refused != (Refusal{}) {
			return refused, nil
		}
		if refused := a.saturates(own, lost, involved); refused != (Refusal{}) {
			return refused, nil
		}
	}
	return Refusal{}, nil
}

// refusal names a queue and a resource by their places; -1 is no resource.
func (r *Reclaim) refusal(rule Rule, queue, resource int) Refusal {
	refused := Refusal{Rule: rule, Queue: r.division.queues[queue].Name}
	if resource >= 0 {
		refused.Resource = r.division.resources[resource].Name
	}
	return refused
}

// keepsQuota refuses what can never be preempted over the quota of a queue, of all resources or of
// those that are requested.
func (a *asked) keepsQuota(queue int, all bool) Refusal {
	q := &a.division.queues[queue]
	for i, s := range q.shares {
		if a.nonPreemptible && (all || a.requests[i] > 0) && quota.Add(s.NonPreemptible, a.requests[i]) > q.claims[i].Quota {
			return a.refusal(NonPreemptibleQuota, queue, i)
		}
	}
	return Refusal{}
}

// withinQuota reports whether a queue is within its quotas with the reclaimer.
func (a *asked) withinQuota(queue int) bool {
	q := &a.division.queues[queue]
	for i, s := range q.shares {
		if quota.Add(s.Usage, a.requests[i]) > q.claims[i].Quota {
			return false
		}
	}
	return true
}

// comparesQuotas says whether a queue holds more than its quota of something that is requested, and of
// which such resource it holds less; -1 is none. Unlimited quota does not count.
func (a *asked) comparesQuotas(q *queue) (over bool, under int) {
	under = -1
	for i, s := range q.shares {
		limit := q.claims[i].Quota
		if a.requests[i] == 0 || limit == quota.Unlimited {
			continue
		}
		over = over || s.Usage > limit
		if s.Usage < limit && under < 0 {
			under = i
		}
	}
	return over, under
}

// yields reports whether a sibling of the reclaimer may lose one more unit.
func (a *asked) yields(own, other int, lost []int64) bool {
	q, guaranteed := &a.division.queues[other], a.withinQuota(own)
	for i, s := range q.shares {
		holds := quota.Sub(s.Usage, lost[i])
		if holds > s.Allocatable || guaranteed && holds > q.claims[i].Quota {
			return true
		}
	}
	return false
}

// saturates refuses if a queue would be over its share, and as full as a sibling that lost something.
// What counts are the resources that are requested or lost.
func (a *asked) saturates(own int, lost [][]int64, involved []int64) Refusal {
	queues := a.division.queues
	siblings := a.division.roots
	if parent := queues[own].parent; parent >= 0 {
		siblings = queues[parent].children
	}
	for _, other := range siblings {
		if other == own || !slices.ContainsFunc(lost[other], func(amount int64) bool { return amount > 0 }) {
			continue
		}
		for i, s := range queues[own].shares {
			to := &queues[other].shares[i]
			holds := quota.Add(quota.Sub(s.Usage, lost[own][i]), a.requests[i])
			if involved[i] == 0 || holds <= s.FairShare || to.FairShare == 0 {
				continue
			}
			if a.fuller(holds, s.FairShare, quota.Sub(to.Usage, lost[other][i]), to.FairShare) {
				return a.refusal(Saturation, own, i)
			}
		}
	}
	return Refusal{}
}
