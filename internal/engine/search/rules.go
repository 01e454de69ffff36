package search

import (
	"math"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/queue"
)

// Permission says which workloads of a donor the policies permit. It is a range of the
// donor's index, because candidates come by rising priority. The zero value permits
// priorities under zero.
type Permission struct {
	// Below: workloads with a lower effective priority may yield.
	Below int64
	// All: any priority may yield, whatever Below is. none: no priority may.
	All  bool
	none bool
}

// Nobody permits no workload.
var Nobody = Permission{none: true}

// Permits reports whether a workload may yield.
func (p Permission) Permits(w *cluster.Workload) bool { return p.admits(w.Priority) }

func (p Permission) admits(priority int64) bool { return p.All || !p.none && priority < p.Below }

// Or permits whom either permits.
func (p Permission) Or(o Permission) Permission {
	switch {
	case p.All || o.none:
		return p
	case o.All || p.none:
		return o
	}
	return Permission{Below: max(p.Below, o.Below)}
}

// ByPolicy returns the priorities that the queue's policies permit in some attempt, in the own queue or in
// others; none by rules alone.
func (s *Search) ByPolicy(own bool) Permission {
	policy := s.policy()
	switch {
	case s.Request.RulesAlone:
		return Nobody
	case !own:
		return s.ofPolicy(policy.ReclaimWithinCohort)
	case s.EqualsMayYield() && s.Request.Priority == math.MaxInt64:
		return Permission{All: true}
	case s.EqualsMayYield():
		return Permission{Below: s.Request.Priority + 1}
	}
	return s.ofPolicy(policy.WithinClusterQueue)
}

func (s *Search) policy() *queue.PreemptionPolicy {
	return &s.Cluster.Queue(s.Request.Queue).Preemption
}

// Permission returns which workloads of a class of donors may yield by the queue's policies;
// equals in the own queue are not included. If the preemptor may borrow, workloads of the
// priority class may yield only by borrowWithinCohort: of lower priority, and not above the
// threshold.
func (s *Search) Permission(c Class, borrowing bool) Permission {
	policy := s.policy()
	if c == Own {
		return s.ofPolicy(policy.WithinClusterQueue)
	}
	p := s.ofPolicy(policy.ReclaimWithinCohort)
	if c == Hierarchical || !borrowing || s.Request.WithinNominal {
		return p
	}
	if policy.BorrowWithinCohort.Policy == queue.Never {
		return Nobody
	}
	p = Permission{Below: s.Request.Priority} // reclaimWithinCohort is no stricter
	if threshold, ok := policy.BorrowWithinCohort.MaxPriorityThreshold.Get(); ok && threshold < p.Below {
		p.Below = threshold + 1
	}
	return p
}

func (s *Search) ofPolicy(p queue.VictimPolicy) Permission {
	switch p {
	case queue.LowerPriority, queue.LowerOrNewerEqualPriority:
		return Permission{Below: s.Request.Priority}
	case queue.Any:
		return Permission{All: true}
	}
	return Nobody
}

// EqualsMayYield reports whether the own queue's policy permits any equals.
func (s *Search) EqualsMayYield() bool {
	return s.policy().WithinClusterQueue == queue.LowerOrNewerEqualPriority
}

// Newer reports whether a workload of equal priority in the own queue may yield as the newer
// one: it was queued strictly after the preemptor. With NewerByReservation, which is KEP-8522
// to the letter, it was admitted after the preemptor was created.
func (s *Search) Newer(w *cluster.Workload) bool {
	if s.Request.NewerByReservation {
		return instant.Rank(s.reservedAt(w)) > instant.Rank(s.Request.Created)
	}
	return instant.Rank(w.Queued) > instant.Rank(s.Request.Queued)
}

// expired reports whether a workload of equal priority in the own queue may yield because its
// time is over: it has held its quota strictly longer than minAdmitDuration (KEP-8522,
// Preemption Eligibility, 2).
func (s *Search) expired(w *cluster.Workload) bool {
	return s.Request.MinAdmit > 0 && s.reservedAt(w) < s.expiredBefore()
}

// expiredBefore returns the reservation time before which the time of a workload is over.
func (s *Search) expiredBefore() int64 {
	if s.Now < math.MinInt64+s.Request.MinAdmit {
		return math.MinInt64
	}
	return s.Now - s.Request.MinAdmit
}

// HeldUntil returns the last instant at which the time of a workload of equal priority in the
// own queue is not over; ends is false if time changes nothing.
func (r *Request) HeldUntil(w *cluster.Workload) (until int64, ends bool) {
	ends = r.MinAdmit > 0 && w.Priority == r.Priority && w.Reserved != instant.Unset && w.Reserved < math.MaxInt64-r.MinAdmit
	return w.Reserved + r.MinAdmit, ends
}

// reservedAt returns the workload's reservation time; a missing one counts as now.
func (s *Search) reservedAt(w *cluster.Workload) int64 {
	if w.Reserved == instant.Unset {
		return s.Now
	}
	return w.Reserved
}

// ownMayYield reports whether all rules permit a workload of the own queue.
func (s *Search) ownMayYield(w *cluster.Workload) bool {
	if w.Priority == s.Request.Priority && s.EqualsMayYield() {
		return s.Newer(w) || s.expired(w)
	}
	return s.Permission(Own, true).Permits(w)
}

// whileBorrowing reports whether a victim of the priority class was taken by the right of
// borrowWithinCohort.
func (s *Search) whileBorrowing(w *cluster.Workload) bool {
	return !s.Request.WithinNominal && s.Permission(Priority, true).Permits(w)
}
