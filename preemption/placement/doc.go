// Package placement decides which running pods and pod groups must yield so that a pending
// pod or pod group has room on nodes: workload-aware preemption (KEP-5710).
//
// A [Snapshot] is nodes, what runs on them, disruption budgets, and promises of room. A
// [Preemptor] decides about one [Request] at a time; see package preemption for the duties
// of the caller, which are the same:
//
//	snapshot, err := placement.NewSnapshot(state)
//	preemptor, err := placement.New(placement.Config{})
//	decision, err := preemptor.Decide(snapshot, request)
//	next, err := snapshot.With(decision.Edits()...) // a failed one returns snapshot itself
//
// # Units and priority
//
// A unit is what is evicted together: one pod, or all running pods, on all nodes, of a group
// in mode PodGroup, which is never split. The priority of a group counts in place of the
// priorities of its pods, as preemptor and as victim, in both modes. Groups may be nested: the
// unit is the highest group in mode PodGroup around a pod, and the priority of the root counts. Only units of strictly
// lower priority yield (KEP-5710, Preemption unit; Pod Group priorities).
//
// # Steps
//
// If the request fits now, no unit is preempted: the nominated node is tried first, then all
// others. (KEP-5710, Delayed preemption: a nomination may be met on another node, but starts
// no new preemption; one that cannot be met is dropped.) If the request fits once
// terminating pods are gone, it waits for them, until [Request.TerminationTimeout] has passed;
// from that instant such a pod counts as running, and is no victim. So does a pod that terminates for
// another reason than preemption, unless its priority is lower: what is waited for is that
// triggered preemptions are finished. Otherwise these steps follow for
// each domain. The domains of a single pod are the nodes, also if the pod is in a group. A
// gang has the domains of the request, or the whole cluster. The pods of a Basic group are
// decided about one by one, except in [ModeInPlace].
//
//  1. Potential victims: the units of lower priority with a pod in the domain. Their
//     pods elsewhere are evicted, too; they count in step 8, not for room.
//  2. Place the preemptor without all of them ([Order]). If fewer pods than MinCount
//     have a place, or the groups of the request do not get what they need
//     ([Request.Nested]), the domain has no room.
//  3. Importance: higher priority; groups of groups before groups and their pods, these
//     before other pods; more pods;
//     earlier start; pods of the minimum of their group before its surplus
//     ([workload.PodGroup.MinCount]); smaller UID, then ID, of the first pod.
//  4. Budgets: charge the units, in order of importance, to the budgets. Put units with
//     a pod over a budget back where they run, the most important first, if the placed
//     preemptor keeps its room. These stay until the end.
//  5. Find by binary search over the priorities of the remaining units the lowest N such
//     that the preemptor has room with all units of priority above N in place. Each try
//     places the preemptor again, and so does the result. Units above N stay. (For one
//     pod on one node this step is skipped where no set filter or placer decides: it
//     changes nothing. There it is skipped with Config.Importance, too, so that
//     importance decides in place of priority.) The preemptor has room if MinCount of its pods have:
//     for more of them, units of a higher priority do not yield.
//  6. If that placement holds fewer pods than MinCount, because nodes are filled in
//     another way, use the first placement.
//  7. Put the remaining units back in order of importance, each whole and where it runs,
//     if the placed preemptor keeps its room. The units that cannot be put back are the
//     victims.
//  8. Score the domains: fewest pods against budgets; lowest highest priority of a
//     victim; smallest sum of priorities (each plus 2^31, so that fewer are better);
//     fewest pods; latest start of the earliest victim of the highest priority; first in
//     order.
//
// When a group yields whole, nominations of its waiting pods are void.
//
// (KEP-5710, Preemption algorithm; what it leaves open is as built in Kubernetes v1.37:
// the tie-breaks of step 3, the counting of step 4, and the number of pods in step 2.)
//
// [ModeInPlace] skips steps 5 and 6, as built in v1.37: it places the preemptor without
// regard to who runs there, a group in the first domain with room, and charges all units of
// lower priority to the budgets, wherever they run. Terminating
// pods count as running and may become victims again (until the timeout), and a preemptor waits
// only while victims of lower priority terminate on a node that it is nominated to.
//
// # Time
//
// A unit is protected until each of its running pods has run for its minimum runtime: the
// pod's own, else that of the nearest group around it, else [Config.MinRuntime]. Where the request is of another
// queue than the unit, [workload.Pod.ReclaimMinRuntime] and [Config.ReclaimMinRuntime] count in
// the same way. They count from [workload.Pod.Started]; strictly after the end the unit may
// yield. Pods without a start time, terminating pods, and pods over the minimum of their group
// ([workload.PodGroup.MinCount]) are not protected. A [Guard] may also protect a unit until a
// time. (Source of the rule: KAI's design "Guaranteed minimum runtime before preemptions and
// reclaims".)
//
// The outcome Wait has two cases. Either terminating pods make room: then the decision has
// nominations and waits for the event that they are gone. Or time alone helps: then
// [Decision.RetryAt] is the first instant at which the outcome is Fits or Preempt. Both may
// hold at once: at RetryAt the wait for a pod ends, and others may yield in its place.
//
// # Devices
//
// [State.Claims] are devices that pods hold, alone or together: claims of pods and of whole groups (in Kubernetes:
// ResourceClaims). A claim takes its amounts once on a node, from the first of its pods there until the last has left. So
// victims free a claim only if all pods that hold it go. Devices are counted by the names that the caller gives them, as
// those of classes or drivers: partitions, attributes and devices that several nodes share are not known. (kube-scheduler
// v1.37 preempts no pod for devices.)
//
// # Over-used nodes
//
// A node may hold more than its capacity. Only resources that the preemptor requests are
// checked.
//
// # Zero values and errors
//
// The zero Config is valid: pods and groups as KEP-5710 designs them, soft budgets. The zero
// Outcome is invalid. An error about an input is preemption.Faults: everything that is wrong, each with
// its path (nodes[2].capacity). A method that fails returns its receiver, or a zero value.
//
// [workload.Pod.ReclaimMinRuntime]: https://pkg.go.dev/github.com/cedesched/cede/workload#Pod
// [workload.PodGroup.MinCount]: https://pkg.go.dev/github.com/cedesched/cede/workload#PodGroup
// [workload.Pod.Started]: https://pkg.go.dev/github.com/cedesched/cede/workload#Pod
package placement
