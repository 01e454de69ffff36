package reference

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// times are the rules that time ends.
type times struct{ usage }

// minAdmit returns the minAdmitDuration of the preemptor's queue, if it is read.
func (q *times) minAdmit() (least time.Duration, timed bool) {
	least, timed = q.policy.MinAdmitDuration.Get()
	return least, timed && q.policy.WithinClusterQueue == queue.LowerOrNewerEqualPriority
}

// timeOver is KEP-8522: now − reservedAt > minAdmitDuration, strictly.
func (q *times) timeOver(r *Running) bool {
	least, timed := q.minAdmit()
	return timed && q.Now.Sub(q.reserved(r)) > least
}

// reserved is the reservation time; a time that is not known is now.
func (q *times) reserved(r *Running) time.Time {
	if r.ReservedAt.IsZero() {
		return q.Now
	}
	return r.ReservedAt
}

// minRuntime returns the last instant of the minimum runtime of a workload and what sets it: against
// preemption in the own queue, else against reclaim (KAI, Resolving the applicable min-runtime).
func (q *times) minRuntime(r *Running) (until time.Time, setBy string, ok bool) {
	of, least, setBy := func(s minruntime.Settings) quota.OptionalDuration { return s.Preempt }, q.Config.MinRuntime.Preempt, "default"
	from := r.At
	if r.At != q.Queue {
		of, least = func(s minruntime.Settings) quota.OptionalDuration { return s.Reclaim }, q.Config.MinRuntime.Reclaim
		for q.Config.MinRuntime.Method == minruntime.LCA && from.Parent != nil && !q.Queue.IsUnder(from.Parent) {
			from = from.Parent
		}
	}
	for ; from != nil; from = from.Parent {
		if d := of(from.minRuntime); !d.IsZero() {
			kind := "cohort"
			if from.Queue != nil {
				kind = "queue"
			}
			least, setBy = d, fmt.Sprintf("%s %q", kind, from.Name)
			break
		}
	}
	return r.ReservedAt.Add(least.Or(0)), setBy, least.Or(0) > 0 && !r.Evicted && !r.ReservedAt.IsZero()
}

// protection returns the last instant at which a workload is protected for a duration (KEP-9876).
func (q *times) protection(r *Running, kind time.Duration) (last time.Time, ok bool) {
	start := r.AdmittedAt
	if q.Config.Protection.From == minruntime.Reservation {
		start = r.ReservedAt
	}
	return start.Add(kind - 1), kind > 0 && !start.IsZero() && !r.Evicted
}

// guarantee returns the later end of the minimum runtime and the protection.
func (q *times) guarantee(r *Running) (until time.Time, setBy string, ok bool) {
	until, setBy, ok = q.minRuntime(r)
	kind := q.Config.Protection.Preempt
	switch {
	case r.At == q.Queue:
	case q.fair() && !q.EntitledAtFirst:
		kind = q.Config.Protection.FairSharing
	default:
		kind = q.Config.Protection.Reclaim
	}
	if last, protects := q.protection(r, kind); protects && (!ok || last.After(until)) {
		return last, "protection", true
	}
	return until, setBy, ok
}

// Protected reports whether a minimum runtime or a protection keeps a workload: its minimum, not its surplus.
func (q *times) Protected(r *Running) bool {
	until, _, ok := q.guarantee(r)
	return ok && !q.Now.After(until)
}

// underMinimum is Protected without the protections, which rules do not read.
func (q *times) underMinimum(r *Running) bool {
	until, _, ok := q.minRuntime(r)
	return ok && !q.Now.After(until)
}

// ProtectedFor reports whether a candidate other than a replica is protected for a duration.
func (q *times) ProtectedFor(c Candidate, kind time.Duration) bool {
	last, ok := q.protection(c.Running, kind)
	return ok && c.PodSet < 0 && !q.Now.After(last)
}

// guard returns what the guards of the caller say of a workload: the latest instant, or never.
func (q *times) guard(r *Running) (until time.Time, never bool) {
	for _, g := range q.Config.Guards {
		v := g.Verdict(r.Given.Clone(), q.Request)
		at, timed := v.Until()
		if never = never || v.Never(); timed && at.After(until) {
			until = at
		}
	}
	if never {
		until = time.Time{}
	}
	return until, never
}

// Guarded reports whether a guard keeps a workload now.
func (q *times) Guarded(r *Running) bool {
	until, never := q.guard(r)
	return never || !until.IsZero() && !q.Now.After(until)
}
