// Package moves says which victims need not wait: they have room elsewhere. It also empties nodes: racks for a large job, nodes
// that are to be repaired.
//
//	decision, err := moves.Decide(preemptor, snapshot, request, moves.Config{})
//	answer, err := moves.Clear(preemptor, snapshot, moves.ClearRequest{Domains: racks, Count: 2}, moves.Config{Only: true})
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
//  1. [placement.Preemptor.Decide] chooses the victims. With [Config.Only] it decides about a request of the highest priority, with
//     hard budgets: units of any lower priority may move.
//  2. With [Config.Prefer] it decides again in the domain that it chose. There, of units of equal priority, kind (pod, group, groups)
//     and number of pods, those with a place on other nodes beside the first decision are less important. (As
//     kubernetes/kubernetes#141227 asks. Room counts.)
//  3. The victims are placed without the others: first those that must not yield, then by what their move saves, then the largest
//     first; each pod on the node with the least left.
//  4. If a victim without a place must not yield: with [Config.Only] the victims of the domain are chosen once more, the largest
//     units staying, and placed. If that does not help the domain is left out, and step 1 follows again, at most
//     [Config.MaxTries] times. If nothing was found with [Config.Only], and there are at most 256 nodes, step 5 follows with
//     a limit of 2,000.
//  5. With [placement.Exact] the answer with the least cost is looked for: any candidates may leave if what leaves serves the
//     request, directly or by making room for a victim that moves. Budgets are kept. If the steps before found an answer, no
//     unit of a priority above the highest of its victims leaves.
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
// Clear fail as placement.Preemptor.Decide does, with a fault.List: of the request, and of the
// Config (a negative limit, a setting that excludes another).
package moves
