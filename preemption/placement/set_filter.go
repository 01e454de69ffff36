package placement

import "github.com/cedesched/cede/workload"

// SetFilter is a rule of the caller whose answer depends on a set of pods, not on pairs: topology spread, limits of
// volumes or devices. It says so in a [Trial], as the filters of kube-scheduler do with AddPod, RemovePod and Filter.
type SetFilter interface {
	// Begin returns a trial about the snapshot in which every running pod is there, also one that terminates, and no
	// other pod. It is called at most once for a decision, when the first answer is needed; for the pods of a Basic
	// group once for each, with the snapshot after the decisions before it. r is the request of the decision.
	Begin(snapshot *Snapshot, r Request) Trial
	// Reach says whether an answer for a node depends on pods of that node only. It must always return the same
	// value. With ReachCluster every pod that is put back is tried, which takes time.
	Reach() Reach
}

// Trial says whether a pod may run on a node beside the pods that are there. It serves one goroutine.
//
// A trial must keep these laws, which preemptiontest.CheckSetFilter checks:
//
//  1. Allows depends on its arguments and on who is there alone, not on the order in which
//     pods came and went: a trial in which pods were added and removed answers as one that
//     was begun with the pods that are there now. Allows changes nothing.
//  2. A trial does not change its arguments. It may keep them.
//  3. With Reach ReachNode, Allows does not depend on pods of other nodes.
//
// Answers need not be monotone: a pod may be allowed beside others that is not allowed beside some of them. Then a
// decision is made by the same steps, and what is put back is what the steps try.
type Trial interface {
	// Add adds a pod on pod.Node that is not there: a running pod, a placed pod of the request, or a nominated pod.
	Add(pod workload.Pod)
	// Remove removes a pod that is there. It is equal to the pod that was added.
	Remove(pod workload.Pod)
	// Allows reports whether a pod that is not there may run on pod.Node, which is node. Room is checked separately.
	// Allows is asked with the pods that are nominated to the node and have no lower priority, and without (as in
	// kube-scheduler); nominations to other nodes do not count.
	Allows(pod workload.Pod, node workload.Node) bool
}

// Placer places the pods of a request in place of [Config.Order], for instance by the caller's own scheduler for
// groups. Victims are still chosen by the steps of package placement: with [ModeInPlace] the placer is asked
// once for each domain.
type Placer interface {
	// Begin is [SetFilter.Begin].
	Begin(snapshot *Snapshot, r Request) PlacerTrial
}

// PlacerTrial is the trial of a [Placer]. preemptiontest.CheckPlacer checks its laws.
type PlacerTrial interface {
	// Trial has the laws of a trial with Reach ReachCluster. It must allow what Place returns, pod after pod in the
	// order of the request.
	Trial
	// Place returns the node of each pod, beside the pods that are there; empty for a pod without place. nodes are
	// the schedulable nodes of the domain in the order of preference. A pod on an unknown node, outside the domain,
	// without room, or refused by a filter has no place. Place changes nothing: equal calls return equal answers.
	Place(pods []workload.Pod, nodes []string) []string
}
