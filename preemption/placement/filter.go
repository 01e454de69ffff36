package placement

import (
	"github.com/cedesched/cede/workload"
)

// Filter is a rule of the caller about where pods may run: affinity, ports, volumes. Room is checked separately.
//
// A filter must keep these laws, which preemptiontest.CheckFilter checks:
//
//  1. The answers depend on the arguments alone: equal arguments give equal answers.
//  2. The filter does not change its arguments and keeps no reference to them.
//  3. With Reach ReachNode, Conflict is false for pods on different nodes.
//
// Conflicts are between two pods, so placement is monotone: a pod that may run beside others may run beside some of
// them. (A running pod that the preemptor has affinity to may still be a victim, as in kube-scheduler.)
type Filter interface {
	// Feasible reports whether the pod may run on the node, whatever else runs there.
	Feasible(pod workload.Pod, node workload.Node) bool
	// Conflict reports whether the pod, on node pod.Node, and another pod on other.Node exclude each other. The other
	// pod runs, is placed or is nominated. It is asked about nominated pods only if their priority is not lower.
	Conflict(pod, other workload.Pod) bool
	// Reach says how far conflicts reach. It must always return the same value.
	Reach() Reach
}

// Reach says how far the conflicts of a filter reach. The zero value is ReachNode.
type Reach uint8

const (
	// ReachNode: conflicts are between pods on the same node.
	ReachNode Reach = iota
	// ReachCluster: conflicts may be between any two pods. Then every pod that is placed or put back is compared with
	// all others, which takes time.
	ReachCluster
)
