package placement

import (
	"github.com/cedesched/cede/internal/base/enum"
	"github.com/cedesched/cede/workload"
)

// Filter is the caller's own rule on where pods may run: affinity, ports, volumes. Room is
// checked besides.
//
// The laws, which preemptiontest.CheckFilter checks:
//
//  1. The answers depend on the arguments alone, and always come out the same for them.
//  2. Arguments are left alone, and nothing of them is kept.
//  3. With Reach ReachNode, Conflict is false for pods of different nodes.
//
// That conflicts are between two pods makes placement monotone: who may run beside others
// may run beside some of them. (A pod that is needed by the preemptor is never spared for
// that; kube-scheduler does not do so either.)
type Filter interface {
	// Feasible reports whether the pod may run on the node, whoever else is there.
	Feasible(pod workload.Pod, node workload.Node) bool
	// Conflict reports whether the pod, if it runs on pod.Node, and another that runs, is
	// placed or was promised room on other.Node exclude each other. Of promises it is asked
	// about those to pods that are not of lower priority.
	Conflict(pod, other workload.Pod) bool
	// Reach says how far conflicts go.
	Reach() Reach
}

// Reach is how far the conflicts of a filter go. The zero value is ReachNode.
type Reach uint8

const (
	// ReachNode: conflicts are between pods of one node.
	ReachNode Reach = iota
	// ReachCluster: conflicts may be between any two pods. Then every pod that is placed or put
	// back is compared with all others, which takes time.
	ReachCluster
)

var reachNames = enum.Names[Reach]{Type: "Reach", List: []string{"SameNode", "Cluster"}}

// String returns the name of the constant.
func (r Reach) String() string { return reachNames.String(r) }

// MarshalText writes the name. It fails on a value that is none of the constants.
func (r Reach) MarshalText() ([]byte, error) { return reachNames.Marshal(r) }

// UnmarshalText reads a name. It fails on any other text.
func (r *Reach) UnmarshalText(text []byte) error { return reachNames.Unmarshal(text, r) }
