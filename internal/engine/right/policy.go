package right

import (
	"math"

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

// None permits no workload.
var None = Permission{none: true}

// Permits reports whether a workload may yield.
func (p Permission) Permits(w *cluster.Workload) bool { return p.Admits(w.Priority) }

// Admits reports whether workloads of a priority may yield.
func (p Permission) Admits(priority int64) bool { return p.All || !p.none && priority < p.Below }

// Or permits what either permits.
func (p Permission) Or(o Permission) Permission {
	switch {
	case p.All || o.none:
		return p
	case o.All || p.none:
		return o
	}
	return Permission{Below: max(p.Below, o.Below)}
}

// Permission returns which workloads of a class of donors may yield by the queue's policies;
// equals in the own queue are not included. If the preemptor may borrow, workloads of the
// priority class may yield only by borrowWithinCohort: of lower priority, and not above the
// threshold (KEP-83, borrowWithinCohort).
func (c *Case) Permission(class Class, borrowing bool) Permission {
	policy := c.Policy()
	if class == Own {
		return c.ofPolicy(policy.WithinClusterQueue)
	}
	p := c.ofPolicy(policy.ReclaimWithinCohort)
	if class == Hierarchical || !borrowing || c.Request.WithinNominal {
		return p
	}
	if policy.BorrowWithinCohort.Policy == queue.Never {
		return None
	}
	p = Permission{Below: c.Request.Priority} // reclaimWithinCohort is no stricter
	if threshold, ok := policy.BorrowWithinCohort.MaxPriorityThreshold.Get(); ok && threshold < p.Below {
		p.Below = threshold + 1
	}
	return p
}

// ByPolicy returns the priorities that the queue's policies permit in some attempt, in the own queue or in
// others; none by rules alone.
func (c *Case) ByPolicy(own bool) Permission {
	policy := c.Policy()
	switch {
	case c.Request.Rules.Alone:
		return None
	case !own:
		return c.ofPolicy(policy.ReclaimWithinCohort)
	case c.EqualsMayYield():
		if c.Request.Priority == math.MaxInt64 {
			return Permission{All: true}
		}
		return Permission{Below: c.Request.Priority + 1}
	}
	return c.ofPolicy(policy.WithinClusterQueue)
}

func (c *Case) ofPolicy(p queue.VictimPolicy) Permission {
	switch p {
	case queue.LowerPriority, queue.LowerOrNewerEqualPriority:
		return Permission{Below: c.Request.Priority}
	case queue.Any:
		return Permission{All: true}
	}
	return None
}

// WhileBorrowing reports whether a victim of the priority class yields by the right of
// borrowWithinCohort.
func (c *Case) WhileBorrowing(w *cluster.Workload) bool {
	return !c.Request.WithinNominal && c.Permission(Priority, true).Permits(w)
}

// PermitsMore reports whether an attempt without borrowing permits workloads of a level that one
// with borrowing does not.
func (c *Case) PermitsMore(l *Level) bool {
	return c.Permission(l.Class, false) != c.Permission(l.Class, true)
}

// EqualsMayYield reports whether the own queue's policy permits any equals.
func (c *Case) EqualsMayYield() bool {
	return c.Policy().WithinClusterQueue == queue.LowerOrNewerEqualPriority
}
