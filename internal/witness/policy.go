package witness

import (
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// KEP-83, ClusterQueue API changes, and KEP-8522, Preemption Eligibility.

// policyPermits reports whether the policies of the preemptor's queue permit the candidate, and
// notes the right by which.
func (w *world) policyPermits(c *candidate, at time.Time) bool {
	if rulesAlone(w) {
		return false
	}
	if c.of.home == w.own {
		return withinClusterQueue(w, c, at)
	}
	return reclaimWithinCohort(w, c)
}

// withinClusterQueue: KEP-83: "LowerPriority: only preempt workloads in the ClusterQueue that have
// lower priority than the pending Workload." KEP-8522: "A pending workload can preempt an admitted
// same-priority workload if either of these conditions is true": it is newer, or its time is over.
func withinClusterQueue(w *world, c *candidate, at time.Time) bool {
	c.reason = preemption.InClusterQueue
	own, theirs := w.request.Workload.EffectivePriority(), c.of.EffectivePriority()
	switch w.own.queue.Preemption.WithinClusterQueue {
	case queue.LowerPriority:
		return theirs < own
	case queue.LowerOrNewerEqualPriority:
		c.expired = theirs == own && timeIsOver(w, c.of, at)
		newer := theirs == own && isNewer(w, c.of)
		if c.expired && !newer {
			c.reason = preemption.InClusterQueueTimeBased
		}
		return theirs < own || newer || c.expired
	}
	return false
}

// isNewer: "Newer compares queue-order timestamps: the victim's is strictly later than the
// preemptor's." One that is not known "counts as the newest, after all others".
func isNewer(w *world, r *running) bool {
	return workload.CompareQueued(r.Queued, w.request.Workload.Queued) > 0
}

// timeIsOver: KEP-8522: "The target has exceeded minAdmitDuration (i.e., now -
// target.quotaReservationTime > minAdmitDuration)." "Reservation time missing = just now."
func timeIsOver(w *world, r *running, at time.Time) bool {
	least, set := w.own.queue.Preemption.MinAdmitDuration.Get()
	return set && !r.ReservedAt.IsZero() && at.After(r.ReservedAt.Add(least))
}

// reclaimWithinCohort: KEP-83: "ReclaimFromLowerPriority: only preempt workloads in the cohort that
// have lower priority than the pending Workload. ReclaimAny: preempt any workload in the cohort."
func reclaimWithinCohort(w *world, c *candidate) bool {
	c.reason = preemption.InCohortReclamation
	switch {
	case w.config.Sharing != preemption.Classical && !w.entitled:
		c.reason = preemption.InCohortFairSharing
	case w.config.Sharing == preemption.Classical && c.class != byAdvantage && !w.config.Compat.PreemptWithinNominal:
		c.notWhile = !borrowWithinCohort(w, c.of)
		if !c.notWhile {
			c.reason = preemption.InCohortReclaimWhileBorrowing
		}
	}
	switch w.own.queue.Preemption.ReclaimWithinCohort {
	case queue.Any:
		return true
	case queue.LowerPriority:
		return c.of.EffectivePriority() < w.request.Workload.EffectivePriority()
	}
	return false
}

// borrowWithinCohort "permits a workload to preempt in other queues although its own queue will then
// borrow": workloads of lower priority, up to "the highest effective priority of such victims".
func borrowWithinCohort(w *world, r *running) bool {
	threshold, limited := w.own.queue.Preemption.BorrowWithinCohort.MaxPriorityThreshold.Get()
	theirs := r.EffectivePriority()
	return mayBorrowWhileReclaiming(w) && theirs < w.request.Workload.EffectivePriority() && (!limited || theirs <= threshold)
}

func mayBorrowWhileReclaiming(w *world) bool {
	return w.own.queue.Preemption.BorrowWithinCohort.Policy == queue.LowerPriority
}
