package reference

import (
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// rights are the rights by which workloads may yield, and the order of candidates.
type rights struct {
	times
	advantage map[*Node]bool // while nothing is taken: the nodes in whose quota the request fits; see fitsBelow
}

// Right returns by which right the policies permit a workload to be preempted while nothing is taken; ok is false
// if they do not. Minimum runtimes, guards and stable fair sharing are asked separately.
func (q *rights) Right(r *Running) (c Candidate, ok bool) {
	if neverYields(r) || inactive(r.At) {
		return Candidate{Running: r, PodSet: -1}, false
	}
	if r.At == q.Queue {
		return q.rightInOwnQueue(r)
	}
	if !q.reclaims(r.Workload) {
		return Candidate{Running: r, PodSet: -1}, false
	}
	c = q.reclaimed(r)
	return c, c.Cohort != nil && q.reached(r.At, c.Cohort)
}

// RightOfLeaving returns by which right what leaves already was told to. That another victim leaves first takes no
// right away: the queue need not borrow any longer, and what borrowing needs beside is not asked.
func (q *rights) RightOfLeaving(r *Running) (c Candidate, ok bool) {
	if r.At == q.Queue {
		return q.rightInOwnQueue(r)
	}
	if c = q.reclaimed(r); q.fair() && !q.EntitledAtFirst {
		c.Reason = preemption.InCohortFairSharing
	}
	return c, c.Cohort != nil && q.reclaims(r.Workload)
}

// neverYields: the workload says so, and was not told to stop.
func neverYields(r *Running) bool { return r.NeverYields && !r.Evicted }

// rightInOwnQueue is withinClusterQueue: lower priority; or equal priority, and newer or its time is over (KEP-8522).
func (q *rights) rightInOwnQueue(r *Running) (c Candidate, ok bool) {
	c = Candidate{Running: r, PodSet: -1, Class: OwnQueue, Reason: preemption.InClusterQueue}
	theirs, ours := r.EffectivePriority(), q.priority()
	if theirs != ours || q.policy.WithinClusterQueue != queue.LowerOrNewerEqualPriority {
		return c, theirs < ours && q.policy.WithinClusterQueue != queue.Never
	}
	newer := later(r.Queued, q.Request.Workload.Queued)
	over := q.timeOver(r)
	if c.tier = 2; over {
		c.tier = 1
	}
	if over && !newer {
		c.Reason = preemption.InClusterQueueTimeBased
	}
	return c, newer || over
}

// reclaimed returns the right by which a workload of another queue would yield, whatever permits it.
func (q *rights) reclaimed(r *Running) Candidate {
	c := Candidate{Running: r, PodSet: -1, Cohort: common(q.Queue, r.At), Reason: preemption.InCohortReclamation}
	if c.Cohort == nil || q.fair() {
		return c
	}
	if ours, _ := q.Sides(c); !q.advantage[ours] {
		c.Class = ByPriority
		if q.permittedWhileBorrowing(r.Workload) {
			c.Reason = preemption.InCohortReclaimWhileBorrowing
		}
	}
	return c
}

// reclaims is reclaimWithinCohort.
func (q *rights) reclaims(w *workload.Workload) bool {
	switch q.policy.ReclaimWithinCohort {
	case queue.Any:
		return true
	case queue.LowerPriority:
		return w.EffectivePriority() < q.priority()
	}
	return false
}

// reached reports whether a queue, and each cohort between it and the common one, borrows something that needs
// preemption. In fair sharing the queue does, and the cohorts borrow anything.
func (q *rights) reached(n, cohort *Node) bool {
	if !q.fair() {
		return borrowsUpTo(n, cohort, q.Needed)
	}
	return n.borrows(q.Needed) && borrowsUpTo(n, cohort, q.tree.all)
}

// borrowsUpTo reports whether a queue, and each cohort between it and a common one, borrows one of the columns.
func borrowsUpTo(n, cohort *Node, columns []Column) bool {
	for ; n != cohort; n = n.Parent {
		if !n.borrows(columns) {
			return false
		}
	}
	return true
}

// permittedWhileBorrowing is borrowWithinCohort: a lower priority, at most the threshold.
func (q *rights) permittedWhileBorrowing(w *workload.Workload) bool {
	borrow, theirs := &q.policy.BorrowWithinCohort, w.EffectivePriority()
	threshold, limited := borrow.MaxPriorityThreshold.Get()
	return borrow.Policy != queue.Never && !q.Config.Compat.PreemptWithinNominal && theirs < q.priority() && (!limited || theirs <= threshold)
}

// fitsBelow says of the preemptor's queue and of each cohort above it whether the request fits in its quota, or in
// the quota of one of them below it. A queue that shares only a cohort above such a node gives whatever the policy on
// borrowing says.
func (q *rights) fitsBelow() map[*Node]bool {
	list := map[*Node]bool{}
	rest, fitted := slices.Clone(q.Asked), false
	for n := q.Queue; n != nil; n = n.Parent {
		fits := true
		for i, a := range rest {
			fits = fits && quota.Add(n.Used[a.Column], a.Amount) <= n.Subtree[a.Column]
			rest[i].Amount = max(0, quota.Sub(a.Amount, n.LocalLeft(a.Column)))
		}
		fitted = fitted || fits
		list[n] = fitted
	}
	return list
}

// Sides returns the members of the common cohort above the preemptor and above a candidate.
func (q *rights) Sides(c Candidate) (ours, theirs *Node) {
	for ours = q.Queue; ours.Parent != c.Cohort; {
		ours = ours.Parent
	}
	for theirs = c.At; theirs.Parent != c.Cohort; {
		theirs = theirs.Parent
	}
	return ours, theirs
}

// Permits reports whether an attempt permits a candidate, whatever is taken: if the request may borrow, other queues
// give by borrowWithinCohort, but to a preemptor with the advantage.
func (q *rights) Permits(c Candidate, borrowing bool) bool {
	return c.Class != ByPriority || !borrowing || q.Config.Compat.PreemptWithinNominal || c.Reason != preemption.InCohortReclamation
}

// MayBeTaken reports whether an attempt permits a candidate after what is taken: its queue must still borrow.
func (q *rights) MayBeTaken(c Candidate, borrowing bool) bool {
	if c.Class == OwnQueue || !q.fair() {
		return q.Permits(c, borrowing) && (c.Class == OwnQueue || borrowsUpTo(c.At, c.Cohort, q.Needed))
	}
	for n := c.At; n != c.Cohort; n = n.Parent {
		if !n.Share().Borrows {
			return false
		}
	}
	return true
}

// later reports whether a is later than b; a time that is not known is later than all others.
func later(a, b time.Time) bool { return !b.IsZero() && (a.IsZero() || a.After(b)) }
