package preemption

// Room says whether the pending workload has a place, for instance on nodes, without some of
// the admitted workloads; [*placement.Fit] is one. Decide calls Remove and Restore, calls
// Fits once the quota suffices, and restores all workloads before it returns. The caller gives
// a room from which no workload is removed. A room must keep these laws, which
// preemptiontest.CheckRoom checks:
//
//  1. The answer depends only on which workloads are removed. (Exception: if placing
//     is not exact, it may be false where another sequence of calls found a place.)
//  2. After true, removing more workloads leaves it true.
//  3. To remove a removed workload, to restore one that is not removed, and unknown
//     names change nothing.
//
// If there is no room now, all columns of which something is requested need preemption, unless
// [Request.NeedsPreemption] is set: candidates become victims by the same rights until there
// is room, too. Replicas that yield, of a surplus or leaving already, free room only if the room is
// a [ReplicaRoom]. Flavors are assigned by quota alone.
//
// [*placement.Fit]: https://pkg.go.dev/github.com/cedesched/cede/preemption/placement#Fit
type Room interface {
	Remove(workload string)
	Restore(workload string)
	Fits() bool
}

// ReplicaRoom is a [Room] that can free replicas, because it knows which pods of a pod set leave when
// some of its replicas yield; [*placement.Fit] is one that was told the pod sets. Then quota and room together take as few replicas as either needs.
// Decide calls SetRemoved, besides the methods of Room, and sets all numbers back to zero before it
// returns. The caller gives a room in which they are zero. A ReplicaRoom must keep these laws besides
// those of Room, which preemptiontest.CheckReplicaRoom checks:
//
//  4. The answer depends only on which workloads are removed and on the numbers said last. Those
//     of a removed workload do not count until it is restored.
//  5. After true, a greater number leaves it true.
//  6. A number over that of the replicas that the room knows removes all of them; unknown workloads
//     and pod sets change nothing.
//
// The replicas of a pod set have one order. Those that were told to leave come first: Decide counts
// them ([workload.PodSet.Terminating]) before it takes others. The rest is the room's to order, for
// instance the last by name first. It must be the order in which
// the pods are chosen when the decision is carried out, and it must not depend on what is removed.
//
// [*placement.Fit]: https://pkg.go.dev/github.com/cedesched/cede/preemption/placement#Fit.PodSets
type ReplicaRoom interface {
	Room
	// SetRemoved says how many replicas of a pod set of a workload are removed, in place of
	// the number said before: the first so many in the order. It is zero for none, and never negative.
	SetRemoved(workload, podSet string, replicas int64)
}

// LeavingRoom is a [Room] that knows what terminates there; [*placement.Fit] is one. What terminates takes its room
// until it is gone: Fits counts it. If a request that has no place would have one by that alone, nobody is told to leave: the
// decision is Wait, with [Decision.Leaving]. A LeavingRoom keeps another law of Room:
//
//  7. FitsSoon is true where Fits is, and after true, removing more leaves it true.
//
// [*placement.Fit]: https://pkg.go.dev/github.com/cedesched/cede/preemption/placement#Fit
type LeavingRoom interface {
	Room
	// FitsSoon reports whether there is a place once what terminates, and what is removed, is gone.
	FitsSoon() bool
}
