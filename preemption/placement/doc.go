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
// What is evicted together is a unit: one pod, or, of a group in mode PodGroup, all its
// running pods, wherever they run; it is never split. The priority of a group stands for
// that of its pods, as preemptor and as victim, in both modes. Only units of strictly lower
// priority yield (KEP-5710, Preemption unit; Pod Group priorities).
//
// # Steps
//
// What fits as things stand preempts nobody: where the preemptor was promised room, or
// else anywhere (Delayed preemption: a promise may be met elsewhere, but starts no new
// preemption; one that cannot be met any more is forgotten). What fits once pods are gone
// that terminate already waits for them: as long as one does, and no longer than
// [Request.TerminationTimeout]; after it a pod counts as running, and is no victim. Else,
// for each domain (for a pod each node, also if it is of a group; for a gang the cluster or
// those of the request; the pods of a [Group.Basic] group are decided about one by one):
//
//  1. Potential victims: the units of lower priority with a pod in the domain. Their pods
//     elsewhere are evicted too; they count in step 8, not for room.
//  2. With all of them gone the preemptor is placed ([Order]); with fewer pods than
//     MinCount there is no room here. From now on it never gets fewer than were placed.
//  3. Importance: higher priority; groups and their pods before other pods; more pods;
//     earlier start; smaller UID, then ID, of the first pod.
//  4. Budgets: units in order of importance use up what budgets allow; those with a pod
//     over that are put back where they run, the most important first, if the placed
//     preemptor keeps its room. They then stay for good.
//  5. Binary search over the priorities of the units that are left: the lowest N such that
//     the preemptor has room with all units of priority above N in place. It is placed anew
//     for each try, and for the result. Units above N stay. (For one pod on one node
//     this is left out: it changes nothing, unless Config.Importance puts something before
//     priority, which then decides there.)
//  6. Should that placement hold fewer pods than the first (nodes are filled in another
//     way), the first one stands.
//  7. The remaining units are put back in order of importance, each whole and where it
//     runs, if the placed preemptor keeps its room. Those that cannot be are the victims.
//  8. Domains are scored: fewest pods against budgets; lowest highest priority of a victim;
//     smallest sum of priorities (each plus 2^31, so that fewer are better); fewest pods;
//     latest start of the earliest victim of the highest priority; first in order.
//
// What was promised to waiting pods of a group is void when the group yields whole.
//
// (KEP-5710, Preemption algorithm; what it leaves open is as built in Kubernetes v1.37:
// the tie-breaks of step 3, the counting of step 4, and the number of pods in step 2.)
//
// [ModeInPlace] leaves out steps 5 and 6, as built in v1.37: it does not look at who runs where
// the preemptor is placed. [ModeReplace] puts units back by placing the preemptor anew for each,
// as built in v1.36. In both, pods that terminate count as running, may be told to go again
// (until the timeout), and a preemptor waits only while victims of lower priority terminate
// on a node that it was nominated to.
//
// # Time
//
// A unit is protected until each of its running pods has run for its minimum runtime: that of
// the pod, else that of its group, else [Config.MinRuntime]. It is measured from
// [workload.Pod.Started]; strictly after the end the unit may yield. Pods without a start
// time, and pods that terminate, are not protected. A [Guard] may protect a unit until a time,
// too. (Source of the rule: KAI's design "Guaranteed minimum runtime before preemptions and
// reclaims".)
//
// Wait is said in two cases. Pods that terminate already make room: then the decision has
// nominations, and an event is awaited, that they are gone. Or time alone helps: then
// [Decision.RetryAt] is the first instant at which the answer is Fits or Preempt. Both may
// hold at once: at RetryAt a pod has terminated for too long, and others may yield in its
// place.
//
// # What runs out
//
// A node may hold more than its capacity: then only what the preemptor asks for and does not
// get there is missing. Resources that it does not ask for are not looked at.
//
// [workload.Pod.Started]: https://pkg.go.dev/github.com/cedesched/cede/workload#Pod
package placement
