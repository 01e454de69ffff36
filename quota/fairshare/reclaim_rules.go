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
	if i := a.OverShare(); i >= 0 {
		return r.refusal(FairShare, a.Own(), i), nil
	}
	return a.keepsQuota(a.Own(), true), nil
}

// MayPreempt says whether the reclaimer may preempt in its own queue, of which shares are no part: what
// can never be preempted has to be within the quotas of its queue and of all above, of the resources
// that are requested. MayPreempt fails as May does.
func (r *Reclaim) MayPreempt(in Reclaimer) (Refusal, error) {
	a, _, err := r.ask(in, nil)
	if err != nil {
		return Refusal{}, err
	}
	for q := a.Own(); q >= 0; q = a.Parent[q] {
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
	if ok, resource := a.Asked.Candidate(own, other); !ok {
		return r.refusal(NotOver, other, resource), nil
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
	n := len(r.division.tree.Resources)
	lost, involved := make([][]int64, r.division.queues.Len()), slices.Clone(a.Requests)
	for i := range lost {
		lost[i] = make([]int64, n)
	}
	holds := func(q int) func(int) int64 {
		return func(i int) int64 { return quota.Sub(a.Held(q, i), lost[q][i]) }
	}
	for _, u := range list {
		own, other, ok := a.apart(u.path)
		switch {
		case !ok:
			return Refusal{Rule: SameBranch, Queue: r.division.queue(u.path[len(u.path)-1]).Name}, nil
		case !a.Yields(other, a.Guaranteed(own), holds(other)):
			return r.refusal(NotOver, other, -1), nil
		}
		for i, amount := range u.usage {
			involved[i] = quota.Add(involved[i], amount)
			for _, q := range u.path {
				lost[q][i] = quota.Add(lost[q][i], amount)
			}
		}
	}
	counts := func(i int) bool { return involved[i] != 0 }
	loses := func(q int) bool { return slices.ContainsFunc(lost[q], func(amount int64) bool { return amount > 0 }) }
	for own := a.Own(); own >= 0; own = a.Parent[own] {
		if refused := a.keepsQuota(own, true); refused != (Refusal{}) {
			return refused, nil
		}
		for _, other := range r.division.below(r.division.queue(own).parent) {
			if other != own && loses(other) {
				if i := a.Saturated(own, other, counts, holds(own), holds(other)); i >= 0 {
					return r.refusal(Saturation, own, i), nil
				}
			}
		}
	}
	return Refusal{}, nil
}

// refusal names a queue and a resource by their places; -1 is no resource.
func (r *Reclaim) refusal(rule Rule, queue, resource int) Refusal {
	refused := Refusal{Rule: rule, Queue: r.division.queue(queue).Name}
	if resource >= 0 {
		refused.Resource = r.division.tree.Resources[resource].Name
	}
	return refused
}

// keepsQuota refuses what can never be preempted over the quota of a queue, of all resources or of
// those that are requested.
func (a *asked) keepsQuota(queue int, all bool) Refusal {
	if i := a.OverFixed(queue, all); i >= 0 {
		return a.refusal(NonPreemptibleQuota, queue, i)
	}
	return Refusal{}
}
