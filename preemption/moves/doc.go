// Package moves says which victims need not wait: they have room elsewhere. It also empties nodes: racks for a large job, nodes
// that are to be repaired.
//
//	decision, err := moves.Decide(preemptor, snapshot, request, moves.Config{})
//	answer, err := moves.Clear(preemptor, snapshot, moves.ClearRequest{Domains: racks, Count: 2}, moves.Config{})
//
// A victim yields or moves. One that moves has a place for each of its pods in the same decision, and its group moves whole. It
// is a victim all the same: its pods stop and start anew, rules and disruption budgets protect it, and its pods stand in
// [placement.Decision.Victims].
//
// # Where a victim may go
//
// Each pod of a victim goes where it may run ([workload.Pod.Nodes] and Nowhere of the running pod, the filters of
// [placement.Config], [Config.Domains]), on a schedulable node with room: beside all that stays or terminates, the pods of the
// request, and all nominations. No unit is preempted for it, and no promise is broken. A unit whose pods hold claims does not move:
// its devices are on its node. A victim that violates a disruption budget does not move, it yields.
//
// # Steps
//
//  1. [placement.Preemptor.Decide] chooses the victims.
//  2. With [Config.Prefer] it decides again in the domain that it chose. There, of units of equal priority, kind (pod, group, groups)
//     and number of pods, those with a place on other nodes beside the first decision are less important. (As
//     kubernetes/kubernetes#141227 asks. Room counts.)
//  3. The victims are placed without the others: first those that must not yield, then by what their move saves, then the largest
//     first; each pod on the node with the least left.
//  4. If a victim without a place must not yield, the domain is left out, and step 1 follows again, at most [Config.MaxTries] times.
//
// # Order
//
// [Decision.Steps] is an order in which it can happen: no pod starts before there is room for it. In a step all of Stop leave,
// then all of Start start; with [BeforeStop] the reverse. Victims that yield stop in the first step. A unit stops and starts in one step.
// A step stops no more pods of a disruption budget than it allows; pods that moved are there again in the next one, pods that yielded
// are not.
//
// # Values and errors
//
// The zero Config is valid: victims move where they can, and yield where they cannot. Decide and
// Clear fail as placement.Preemptor.Decide does, with preemption.Faults: of the request, and of the
// Config (a negative limit).
package moves
