package search

import "github.com/cedesched/cede/internal/engine/cluster"

// Candidates come in phases: first those being evicted, then the others; in each first the
// hierarchical class, then the priority class, then the preemptor's own queue. Order in a
// phase (KEP-83, Preemption, step 3; ties as built in Kueue): lower effective priority, later
// reservation (a missing one counts as now), lower UID, lower ID. At equal priority the
// surplus replicas of elastic workloads come one by one before whole workloads; those of one
// workload from its last pod set to its first.
//
// The own queue comes in tiers (KEP-8522, Preemption order): lower priority; then equals
// whose time is over, longest running first; then newer equals, most recently reserved first.
var phases = [...]phase{
	{evictedLanes, Hierarchical, everybody},
	{evictedLanes, Priority, everybody},
	{evictedLanes, Own, everybody},
	{evictedLanes, Own, expiredEquals},
	{evictedLanes, Own, newerEquals},
	{activeLanes, Hierarchical, everybody},
	{activeLanes, Priority, everybody},
	{activeLanes, Own, everybody},
	{activeLanes, Own, expiredEquals},
	{activeLanes, Own, newerEquals},
}

type phase struct {
	lanes []cluster.Lane
	class Class
	tier  tier
}

var (
	evictedLanes = []cluster.Lane{cluster.Evicted, cluster.EvictedUnreserved}
	wholeLanes   = [...][]cluster.Lane{evictedLanes, {cluster.Active, cluster.ActiveUnreserved}}
	userLanes    = [...][]cluster.Lane{evictedLanes, {cluster.Active, cluster.ActiveUnreserved, cluster.NeverYielding, cluster.NeverYieldingUnreserved}}
	activeLanes  = []cluster.Lane{cluster.SurplusReserved, cluster.SurplusUnreserved, cluster.Active, cluster.ActiveUnreserved}
)

// tier is a part of a donor's workloads with an order of its own.
type tier uint8

const (
	// everybody: all workloads in the range of priorities that the policy permits.
	everybody tier = iota
	expiredEquals
	newerEquals
)

// hasTier reports whether the own queue's policy permits the tier.
func (s *Search) hasTier(t tier) bool {
	return t == everybody || s.EqualsMayYield() && (t == newerEquals || s.Request.MinAdmit > 0)
}

// Position is the position of a candidate in a phase.
type Position struct {
	Workload *cluster.Workload
	reserved int64
	surplus  bool
}

// PositionOf returns the position of a workload, or of its surplus replicas.
func (s *Search) PositionOf(w *cluster.Workload, surplus bool) Position {
	return Position{w, s.reservedAt(w), surplus}
}

// Before is the order in a phase.
func (a *Position) Before(b *Position) bool {
	switch {
	case a.Workload.Priority != b.Workload.Priority:
		return a.Workload.Priority < b.Workload.Priority
	case a.surplus != b.surplus:
		return a.surplus
	case a.reserved != b.reserved:
		return a.reserved > b.reserved
	}
	return cluster.CompareIDs(a.Workload, b.Workload) < 0
}

// FirstWhole returns the first of the workloads that the function `of` returns for the lanes
// of whole workloads that are candidates: those being evicted first, then as in a phase. It
// returns nil if there are none.
func (s *Search) FirstWhole(of func(cluster.Lane) *cluster.Workload) *cluster.Workload {
	return s.firstIn(&wholeLanes, of)
}

// firstUser does the same for all workloads, those that never yield included.
func (s *Search) firstUser(of func(cluster.Lane) *cluster.Workload) *cluster.Workload {
	return s.firstIn(&userLanes, of)
}

func (s *Search) firstIn(tiers *[2][]cluster.Lane, of func(cluster.Lane) *cluster.Workload) *cluster.Workload {
	for _, lanes := range tiers {
		var first Position
		for _, lane := range lanes {
			w := of(lane)
			if w == nil {
				continue
			}
			if p := s.PositionOf(w, false); first.Workload == nil || p.Before(&first) {
				first = p
			}
		}
		if first.Workload != nil {
			return first.Workload
		}
	}
	return nil
}
