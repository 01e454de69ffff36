package search

import (
	"math"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/queue"
)

// permission is the verdict of the policies on the workloads of one donor: a range
// of its index, since candidates come by rising priority.
type permission struct {
	// below is the effective priority under which workloads may yield.
	below int64
	// all: any priority may yield, whatever below; none: no priority may.
	all, none bool
}

var nobody = permission{none: true}

func (p permission) permits(w *cluster.Workload) bool { return p.admits(w.Priority) }

func (p permission) admits(priority int64) bool { return p.all || !p.none && priority < p.below }

func (s *Searcher) policy() *queue.PreemptionPolicy {
	return &s.cluster.Queue(s.request.Queue).Preemption
}

// permission returns who of a class of donors may yield by the queue's policies,
// besides equals in the own queue. When the preemptor may borrow, workloads of the
// priority class may yield only under borrowWithinCohort: of lower priority, and at
// or under the threshold.
func (s *Searcher) permission(c class, borrowing bool) permission {
	policy := s.policy()
	if c == own {
		return s.ofPolicy(policy.WithinClusterQueue)
	}
	p := s.ofPolicy(policy.ReclaimWithinCohort)
	if c == hierarchical || !borrowing {
		return p
	}
	if policy.BorrowWithinCohort.Policy == queue.Never {
		return nobody
	}
	p = permission{below: s.request.Priority} // reclaimWithinCohort is no stricter
	if threshold, ok := policy.BorrowWithinCohort.MaxPriorityThreshold.Get(); ok && threshold < p.below {
		p.below = threshold + 1
	}
	return p
}

func (s *Searcher) ofPolicy(p queue.VictimPolicy) permission {
	switch p {
	case queue.LowerPriority, queue.LowerOrNewerEqualPriority:
		return permission{below: s.request.Priority}
	case queue.Any:
		return permission{all: true}
	}
	return nobody
}

// equalsMayYield reports whether the own queue's policy is about equals at all.
func (s *Searcher) equalsMayYield() bool {
	return s.policy().WithinClusterQueue == queue.LowerOrNewerEqualPriority
}

// newer reports whether a workload of equal priority in the own queue may yield as the
// newer one: it was queued strictly after the preemptor. By reservation, the literal
// reading of KEP-8522, it was admitted after the preemptor was created.
func (s *Searcher) newer(w *cluster.Workload) bool {
	if s.request.NewerByReservation {
		return s.reservedAt(w) > s.request.Created
	}
	return w.Queued > s.request.Queued
}

// expired reports whether a workload of equal priority in the own queue may yield
// because its time is over: it has held its quota for longer than minAdmitDuration,
// strictly (KEP-8522, Preemption Eligibility, 2).
func (s *Searcher) expired(w *cluster.Workload) bool {
	return s.request.MinAdmit > 0 && s.reservedAt(w) < s.expiredBefore()
}

// expiredBefore is the reservation time before which time is over.
func (s *Searcher) expiredBefore() int64 {
	if s.request.Now < math.MinInt64+s.request.MinAdmit {
		return math.MinInt64
	}
	return s.request.Now - s.request.MinAdmit
}

// HeldUntil returns the last instant at which the time of a workload of equal priority
// in the own queue is not over; ends is false where time changes nothing.
func (r *Request) HeldUntil(w *cluster.Workload) (until int64, ends bool) {
	ends = r.MinAdmit > 0 && w.Priority == r.Priority && w.Reserved != instant.Unset && w.Reserved < math.MaxInt64-r.MinAdmit
	return w.Reserved + r.MinAdmit, ends
}

// reservedAt is the workload's reservation time; a missing one is now.
func (s *Searcher) reservedAt(w *cluster.Workload) int64 {
	if w.Reserved == instant.Unset {
		return s.request.Now
	}
	return w.Reserved
}

// ownMayYield is the whole verdict on a workload of the own queue.
func (s *Searcher) ownMayYield(w *cluster.Workload) bool {
	if w.Priority == s.request.Priority && s.equalsMayYield() {
		return s.newer(w) || s.expired(w)
	}
	return s.permission(own, true).permits(w)
}

// whileBorrowing tells, of a victim of the priority class, whether it is one that
// may be taken while borrowing.
func (s *Searcher) whileBorrowing(w *cluster.Workload) bool {
	return s.permission(priority, true).permits(w)
}
