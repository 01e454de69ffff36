package search

import (
	"math"

	"github.com/cedesched/cede/internal/cluster"
	"github.com/cedesched/cede/queue"
)

// permission is the verdict of the policies on the workloads of one donor: a range
// of its index, since candidates come by rising priority.
type permission struct {
	// below is the effective priority under which workloads may yield.
	below int64
	// all: any priority may yield, whatever below.
	all bool
	// newerEqual: workloads of priority below may yield too if they were queued
	// strictly after the preemptor.
	newerEqual bool
}

var nobody = permission{below: math.MinInt64}

// permits says whether a workload of the range may yield; past says that neither it
// nor any later one may.
func (p permission) permits(w *cluster.Workload, queued int64) (ok, past bool) {
	switch {
	case p.all, w.Priority < p.below:
		return true, false
	case p.newerEqual && w.Priority == p.below:
		return w.Queued > queued, false
	}
	return false, true
}

func (s *Searcher) policy() *queue.Preemption {
	return &s.cluster.Queue(s.request.Queue).Preemption
}

// permission returns who of a class of donors may yield by the queue's policies. When
// the preemptor may borrow, workloads of the priority class may yield only under
// borrowWithinCohort: of lower priority, and at or under the threshold.
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

func (s *Searcher) ofPolicy(p queue.Policy) permission {
	switch p {
	case queue.LowerPriority:
		return permission{below: s.request.Priority}
	case queue.LowerOrNewerEqualPriority:
		return permission{below: s.request.Priority, newerEqual: true}
	case queue.Any:
		return permission{all: true}
	}
	return nobody
}

// whileBorrowing tells, of a victim of the priority class, whether it is one that
// may be taken while borrowing.
func (s *Searcher) whileBorrowing(w *cluster.Workload) bool {
	ok, _ := s.permission(priority, true).permits(w, s.request.Queued)
	return ok
}
