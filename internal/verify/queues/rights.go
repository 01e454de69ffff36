package queues

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// class says in which order candidates come, and by which right.
type class int

const (
	hierarchical class = iota // the request fits in a subtree that the candidate is not in
	byPriority                // else: the policies on borrowing decide
	ownQueue
)

// candidate is a workload that a rule permits to preempt, or one replica of it.
type candidate struct {
	*running
	set    int // the pod set of the replica; -1: the whole workload
	class  class
	tier   int   // in the own queue: 0 lower priority, 1 time over, 2 newer
	cohort *node // the lowest above both queues; nil in the own queue
	reason Reason
	// quotas are the constraints of the selectors that took it, if rules did.
	quotas []rules.QuotaConstraint
	// config and names are those of the rules that accept it.
	config string
	names  []string
}

// partial reports whether it is replicas, and not the whole workload.
func (c *candidate) partial() bool { return c.set >= 0 || c.part > 0 }

// goesWhole reports whether the workload of replicas is in a list as a whole.
func (c *candidate) goesWhole(list []candidate) bool {
	return c.partial() && slices.ContainsFunc(list, func(o candidate) bool { return o.ID == c.ID && !o.partial() })
}

// take removes a candidate (1) or puts it back (-1).
func (j *judge) take(c candidate, times int64) {
	if c.set < 0 {
		c.running.set(times > 0)
	} else {
		c.fewer[c.set] += times
		c.settle()
	}
	if j.Room != nil {
		c.tell(j.Room)
	}
}

func (j *judge) takeAll(list []candidate, times int64) {
	for _, c := range list {
		j.take(c, times)
	}
}

// right returns by which right the policies permit a workload, nobody gone; ok is false if
// they do not. Minimum runtimes and guards are asked separately.
func (j *judge) right(r *running) (c candidate, ok bool) {
	c = candidate{running: r, set: -1}
	if j.stays(r) {
		return c, false
	}
	if r.queue == j.queue {
		return j.rightInOwnQueue(c)
	}
	switch theirs, ours := r.EffectivePriority(), j.Workload.EffectivePriority(); j.policy.ReclaimWithinCohort {
	case queue.Any:
	case queue.LowerPriority:
		if theirs >= ours {
			return c, false
		}
	default:
		return c, false
	}
	below := j.queue // the child of the common cohort above the preemptor
	for below.parent != nil && !r.queue.isUnder(below.parent) {
		below = below.parent
	}
	c.cohort, c.class, c.reason = below.parent, hierarchical, InCohortReclamation
	if c.cohort == nil || !r.queue.borrows(j.needed) {
		return c, false
	}
	for n := r.queue; n != c.cohort; n = n.parent {
		if j.Fair && !n.borrowsAnything() || !j.Fair && !n.borrows(j.needed) {
			return c, false
		}
	}
	if !j.Fair && !j.advantage[below] {
		c.class = byPriority
		if j.permittedWhileBorrowing(r.Workload) {
			c.reason = InCohortReclaimWhileBorrowing
		}
	}
	return c, true
}

// stays reports whether nobody may ever preempt a workload: it never yields and was not told to
// stop, or its queue is inactive.
func (j *judge) stays(r *running) bool {
	return r.NeverYields && !r.Evicted || j.inactive(r.Queue)
}

func (j *judge) inactive(name string) bool {
	return slices.ContainsFunc(j.Queues, func(q queue.Queue) bool { return q.Name == name && q.Inactive })
}

// newerThan compares times; one that is not known is newer than all that are.
func newerThan(a, b time.Time) bool { return !b.IsZero() && (a.IsZero() || a.After(b)) }

func (j *judge) rightInOwnQueue(c candidate) (candidate, bool) {
	c.class, c.reason = ownQueue, InClusterQueue
	theirs, ours := c.EffectivePriority(), j.Workload.EffectivePriority()
	if theirs != ours || j.policy.WithinClusterQueue != queue.LowerOrNewerEqualPriority {
		return c, theirs < ours && j.policy.WithinClusterQueue != queue.Never
	}
	newer := newerThan(c.Queued, j.Workload.Queued)
	if j.NewerByReservation {
		newer = newerThan(j.reserved(c.Workload), j.Workload.Created)
	}
	least, timed := j.policy.MinAdmitDuration.Get()
	over := timed && !j.IgnoreMinAdmitDuration && j.now.Sub(j.reserved(c.Workload)) > least
	if c.tier = 2; over {
		c.tier = 1
	}
	if !newer {
		c.reason = InClusterQueueTimeBased
	}
	return c, newer || over
}

// permittedWhileBorrowing is borrowWithinCohort: a lower priority, not over the threshold.
func (j *judge) permittedWhileBorrowing(w *workload.Workload) bool {
	borrow, theirs := &j.policy.BorrowWithinCohort, w.EffectivePriority()
	threshold, limited := borrow.MaxPriorityThreshold.Get()
	return borrow.Policy != queue.Never && !j.PreemptWithinNominal && theirs < j.Workload.EffectivePriority() && (!limited || theirs <= threshold)
}

// reserved is the reservation time; a missing one counts as now.
func (j *judge) reserved(w *workload.Workload) time.Time {
	if w.ReservedAt.IsZero() {
		return j.now
	}
	return w.ReservedAt
}

// advantages finds the nodes at or above the preemptor's queue in whose quota the request
// fits: whoever shares only a higher cohort with the queue is reclaimed from without regard to
// borrowing.
func (j *judge) advantages() map[*node]bool {
	list := map[*node]bool{}
	rest, fitted := slices.Clone(j.asked), false
	for n := j.queue; n != nil; n = n.parent {
		fits := true
		for i := range rest {
			c := rest[i].FlavorResource()
			fits = fits && quota.Add(n.used[c], rest[i].Amount) <= n.subtree(c)
			rest[i].Amount = max(0, quota.Sub(rest[i].Amount, n.localLeft(c)))
		}
		fitted = fitted || fits
		list[n] = fitted
	}
	return list
}

// minimumRuntime returns the last instant at which the minimum runtime or the protection
// protects a workload: that against preemption in the own queue, else that against reclaim
// (KAI, Resolving the applicable min-runtime) or fair sharing (KEP-9876).
func (j *judge) minimumRuntime(r *running) (until time.Time, ok bool) {
	until, ok = j.minimumAlone(r)
	kind := j.Protection.Preempt
	switch {
	case r.queue == j.queue:
	case j.Fair && !j.entitledAtFirst:
		kind = j.Protection.FairSharing
	default:
		kind = j.Protection.Reclaim
	}
	if last, protects := j.Protection.Of(kind, r.ReservedAt, r.AdmittedAt); protects && (!ok || last.After(until)) {
		until, ok = last, true
	}
	return until, ok && !r.Evicted
}

// minimumAlone is minimumRuntime without the protection, which rules do not read.
func (j *judge) minimumAlone(r *running) (until time.Time, ok bool) {
	of, least := func(s *minruntime.Settings) quota.OptionalDuration { return s.Preempt }, j.MinRuntime.Preempt
	from := r.queue
	if r.queue != j.queue {
		of, least = func(s *minruntime.Settings) quota.OptionalDuration { return s.Reclaim }, j.MinRuntime.Reclaim
		for j.ReclaimMethod == minruntime.LCA && from.parent != nil && !j.queue.isUnder(from.parent) {
			from = from.parent
		}
	}
	for ; from != nil; from = from.parent {
		if d := of(&from.minimum); !d.IsZero() {
			least = d
			break
		}
	}
	return r.ReservedAt.Add(least.Or(0)), least.Or(0) > 0 && !r.Evicted && !r.ReservedAt.IsZero()
}

// protected reports whether a minimum runtime protects a workload: its minimum, not its
// surplus.
func (j *judge) protected(r *running) bool {
	until, ok := j.minimumRuntime(r)
	return ok && !j.now.After(until)
}

// underMinimum is protected without the protection.
func (j *judge) underMinimum(r *running) bool {
	until, ok := j.minimumAlone(r)
	return ok && !j.now.After(until)
}

// protectedFor reports whether the protection protects a candidate for a duration.
func (j *judge) protectedFor(c candidate, d time.Duration) bool {
	last, ok := j.Protection.Of(d, c.ReservedAt, c.AdmittedAt)
	return ok && c.set < 0 && !c.Evicted && !j.now.After(last)
}

// guarded reports whether a guard of the caller protects a workload.
func (j *judge) guarded(r *running) bool {
	if j.Guard == nil {
		return false
	}
	until, never := j.Guard(r.Workload)
	return never || !until.IsZero() && !j.now.After(until)
}

// uses reports whether a pod set, or any for -1, names a column that needs preemption.
func (j *judge) uses(r *running, set int) bool {
	for i := range r.PodSets {
		if set >= 0 && set != i {
			continue
		}
		for _, a := range r.PodSets[i].Requests {
			if slices.Contains(j.needed, a.FlavorResource()) {
				return true
			}
		}
	}
	return false
}

// candidates lists who may yield now, in the documented order: each replica of a surplus,
// and whole workloads.
func (j *judge) candidates() (list []candidate) {
	for _, r := range j.running {
		c, ok := j.right(r)
		if !ok || !j.uses(r, -1) || j.guarded(r) || j.unstable(r) {
			continue
		}
		for i := range r.PodSets {
			for n := r.PodSets[i].Surplus(); n > 0 && !r.Evicted && j.uses(r, i); n-- {
				c.set = i
				list = append(list, c)
			}
		}
		if c.set = -1; !j.protected(r) {
			list = append(list, c)
		}
	}
	return j.sorted(list)
}

// sorted puts candidates in the documented order.
func (j *judge) sorted(list []candidate) []candidate {
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(first(a.Evicted, b.Evicted), cmp.Compare(a.class, b.class), cmp.Compare(a.tier, b.tier), j.compare(a, b))
	})
	if len(j.LocalQueueUsage) == 0 {
		return list
	}
	return j.byUsage(list)
}

// compare is steps 3 to 6 of the order of candidates.
func (j *judge) compare(a, b candidate) int {
	laterFirst := j.reserved(b.Workload).Compare(j.reserved(a.Workload))
	if a.class == ownQueue && b.class == ownQueue && a.tier == 1 && b.tier == 1 {
		laterFirst = -laterFirst // longest running first
	}
	return cmp.Or(cmp.Compare(a.EffectivePriority(), b.EffectivePriority()), first(a.set >= 0, b.set >= 0), laterFirst,
		cmp.Compare(a.UID, b.UID), cmp.Compare(a.ID, b.ID), -cmp.Compare(a.set, b.set))
}

// first orders those for whom something holds before the others.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
