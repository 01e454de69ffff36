package source

import (
	"cmp"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
)

// Candidates come in phases: first those being evicted, then the others; in each first the
// hierarchical class, then the priority class, then the preemptor's own queue. Order in a
// phase (KEP-83, Preemption, step 3; ties as built in Kueue): lower effective priority, later
// reservation (a missing one counts as now), lower UID, lower ID. At equal priority the
// surplus replicas of elastic workloads come one by one before whole workloads; those of one
// workload from its last pod set to its first.
//
// The own queue comes in tiers (KEP-8522, Preemption order): lower priority; then equals
// with their time over, longest running first; then newer equals, most recently reserved first.
var phases = [...]phase{
	{evictedLanes, right.Hierarchical, everyWorkload},
	{evictedLanes, right.Priority, everyWorkload},
	{evictedLanes, right.Own, everyWorkload},
	{evictedLanes, right.Own, expiredEquals},
	{evictedLanes, right.Own, newerEquals},
	{activeLanes, right.Hierarchical, everyWorkload},
	{activeLanes, right.Priority, everyWorkload},
	{activeLanes, right.Own, everyWorkload},
	{activeLanes, right.Own, expiredEquals},
	{activeLanes, right.Own, newerEquals},
}

// Phases is their number.
const Phases = len(phases)

type phase struct {
	lanes []cluster.Lane
	class right.Class
	tier  tier
}

// tier is a part of a donor's workloads with an order of its own.
type tier uint8

const (
	// everyWorkload in the range of priorities that the policy permits.
	everyWorkload tier = iota
	expiredEquals
	newerEquals
)

var (
	evictedLanes = []cluster.Lane{cluster.Evicted, cluster.EvictedUnreserved}
	activeLanes  = []cluster.Lane{cluster.SurplusReserved, cluster.SurplusUnreserved, cluster.Active, cluster.ActiveUnreserved}
	// partLanes may hold replicas: surplus, or leaving.
	partLanes = []cluster.Lane{cluster.SurplusReserved, cluster.SurplusUnreserved, cluster.Evicted, cluster.EvictedUnreserved}
)

// LastTier reports whether a phase is the last of its class among those with the same lanes.
func LastTier(n int) bool {
	return phases[n].class != right.Own || phases[n].tier == newerEquals
}

// hasTier reports whether the own queue's policy permits the tier.
func hasTier(c *right.Case, t tier) bool {
	return t == everyWorkload || c.EqualsMayYield() && (t == newerEquals || c.Request.MinAdmit > 0)
}

// Position is the position of a candidate in a phase.
type Position struct {
	Workload *cluster.Workload
	reserved int64
	surplus  bool
}

// PositionOf returns the position of a workload, or of its surplus replicas.
func PositionOf(c *right.Case, w *cluster.Workload, surplus bool) Position {
	return Position{w, c.ReservedAt(w), surplus}
}

// Before is the order in a phase.
func (a *Position) Before(b *Position) bool { return a.Compare(b, false) < 0 }

// Compare is the order in a phase; longestFirst: of those whose time is over.
func (a *Position) Compare(b *Position, longestFirst bool) int {
	switch {
	case a.Workload.Priority != b.Workload.Priority:
		return cmp.Compare(a.Workload.Priority, b.Workload.Priority)
	case a.surplus != b.surplus && a.surplus:
		return -1
	case a.surplus != b.surplus:
		return 1
	case a.reserved != b.reserved && longestFirst:
		return cmp.Compare(a.reserved, b.reserved)
	case a.reserved != b.reserved:
		return cmp.Compare(b.reserved, a.reserved)
	}
	return cluster.CompareIDs(a.Workload, b.Workload)
}

// FirstWhole returns the first of the workloads that the function `of` returns for the lanes
// of whole workloads that are candidates: those being evicted first, then as in a phase. It
// returns nil if there are none.
func FirstWhole(c *right.Case, of func(cluster.Lane) *cluster.Workload) *cluster.Workload {
	return firstIn(c, &[2][]cluster.Lane{evictedLanes, {cluster.Active, cluster.ActiveUnreserved}}, of)
}

// FirstUser does the same for all workloads, those that never yield included.
func FirstUser(c *right.Case, of func(cluster.Lane) *cluster.Workload) *cluster.Workload {
	active := []cluster.Lane{cluster.Active, cluster.ActiveUnreserved, cluster.NeverYielding, cluster.NeverYieldingUnreserved}
	return firstIn(c, &[2][]cluster.Lane{evictedLanes, active}, of)
}

func firstIn(c *right.Case, lists *[2][]cluster.Lane, of func(cluster.Lane) *cluster.Workload) *cluster.Workload {
	for _, lanes := range lists {
		var first Position
		for _, lane := range lanes {
			w := of(lane)
			if w == nil {
				continue
			}
			if p := PositionOf(c, w, false); first.Workload == nil || p.Before(&first) {
				first = p
			}
		}
		if first.Workload != nil {
			return first.Workload
		}
	}
	return nil
}
