package asrules

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Unsaid returns why rules may decide otherwise than the policies that they are written for: what the vocabulary of
// rules cannot say. Each reason is a predicate on the question; docs/departures.md lists them. The list is empty if
// the decisions must be the same.
func Unsaid(st preemption.State, r preemption.Request, c preemption.Config) (reasons []string) {
	q := &question{State: st, Request: r, config: c}
	for i := range st.Queues {
		if st.Queues[i].Name == r.Workload.Queue {
			q.queue = &st.Queues[i]
		}
	}
	for _, p := range predicates {
		if (!p.fair || c.Sharing != preemption.Classical) && (!p.others || q.queue.Preemption.ReclaimWithinCohort != queue.Never) && p.holds(q) {
			reasons = append(reasons, p.reason)
		}
	}
	return reasons
}

type question struct {
	preemption.State
	preemption.Request
	config preemption.Config
	queue  *queue.Queue // the preemptor's
}

// predicates are the reasons. Those of others are about victims in other queues.
var predicates = []struct {
	reason       string
	fair, others bool // in fair sharing alone; of a queue that reclaims alone
	holds        func(q *question) bool
}{
	{"of equals the one queued later yields, rules compare times of creation", false, false, (*question).queuedOtherwise},
	{"of equals whose time is over the longest running yields first", false, false, func(q *question) bool {
		return q.queue.Preemption.MinAdmitDuration != quota.OptionalDuration{}
	}},
	{"rules take workloads as a whole", false, false, func(q *question) bool { return slices.ContainsFunc(q.Admitted, elastic) }},
	{"a reservation that is not known is the latest, not now", false, false, (*question).reservedLater},
	{"the right to reclaim is judged again after each victim, and no attempt is made without borrowing", false, true, func(q *question) bool {
		return q.config.Sharing == preemption.Classical && q.wouldBorrow()
	}},
	{"shares are compared from the root down, cohort by cohort", true, true, func(q *question) bool {
		return slices.ContainsFunc(q.Cohorts, func(c queue.Cohort) bool { return c.Parent != "" })
	}},
	{"who is being evicted comes first in its queue, not first of all", true, true, func(q *question) bool {
		return slices.ContainsFunc(q.Admitted, func(w workload.Workload) bool { return w.Evicted })
	}},
	{"the second strategy has one chance in each queue", true, true, func(q *question) bool {
		return len(q.config.Strategies) != 1 && q.wouldBorrow()
	}},
	{"own victims make others eligible again, and stay if these need them", true, true, func(q *question) bool {
		return q.queue.Preemption.WithinClusterQueue != queue.Never && q.wouldBorrow()
	}},
	{"a queue that borrowed at first may borrow something else when its turn comes", true, true, func(q *question) bool { return len(q.columns()) > 1 }},
}

// queuedOtherwise reports whether an equal of the own queue was created later than the preemptor and
// not queued later, or the reverse.
func (q *question) queuedOtherwise() bool {
	of := &q.Workload
	return q.queue.Preemption.WithinClusterQueue == queue.LowerOrNewerEqualPriority && slices.ContainsFunc(q.Admitted, func(w workload.Workload) bool {
		return w.Queue == of.Queue && w.EffectivePriority() == of.EffectivePriority() &&
			(workload.CompareQueued(w.Queued, of.Queued) > 0) != (workload.CompareQueued(w.Created, of.Created) > 0)
	})
}

func elastic(w workload.Workload) bool {
	return slices.ContainsFunc(w.PodSets, func(p workload.PodSet) bool { return p.Surplus() > 0 })
}

// reservedLater reports whether one reservation is not known and another is after now.
func (q *question) reservedLater() bool {
	return slices.ContainsFunc(q.Admitted, func(w workload.Workload) bool { return w.ReservedAt.IsZero() }) &&
		slices.ContainsFunc(q.Admitted, func(w workload.Workload) bool { return w.ReservedAt.After(q.Now) })
}

// wouldBorrow reports whether the request would take its queue over the quota of the queue.
func (q *question) wouldBorrow() bool {
	for _, a := range q.Workload.Usage() {
		used, nominal := a.Amount, int64(0)
		for _, w := range q.Admitted {
			for _, u := range w.Usage() {
				if w.Queue == q.queue.Name && u.FlavorResource() == a.FlavorResource() {
					used = quota.Add(used, u.Amount)
				}
			}
		}
		for _, e := range q.queue.Quotas {
			if e.FlavorResource() == a.FlavorResource() {
				nominal = e.Nominal
			}
		}
		if used > nominal {
			return true
		}
	}
	return false
}

// columns lists what some queue has a quota of.
func (q *question) columns() (list []quota.FlavorResource) {
	for _, o := range q.Queues {
		for _, e := range o.Quotas {
			if !slices.Contains(list, e.FlavorResource()) {
				list = append(list, e.FlavorResource())
			}
		}
	}
	return list
}
