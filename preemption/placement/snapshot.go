package placement

import "github.com/cedesched/cede/internal/engine/nodes/state"

// Snapshot is an immutable cluster: nodes, what runs on them, groups, budgets, nominations. Any number of goroutines
// may use one. Make it with [NewSnapshot]; the zero value is an empty cluster.
type Snapshot struct {
	cluster *state.Cluster
	order   []*state.Pod // of the state of the last Sync; nil: by node and ID
}

var empty, _ = state.New(new(state.State)) // an empty state is valid

func (s *Snapshot) inside() *state.Cluster {
	if s == nil || s.cluster == nil {
		return empty
	}
	return s.cluster
}

// MaxResources limits the number of different resources in a snapshot and a request together: each costs memory on
// every node.
const MaxResources = state.MaxResources

// NewSnapshot makes a snapshot of a state, which it copies. It fails with preemption.Faults of everything wrong with the
// state, by path: what the Validate methods of its values find ([workload.Node.Validate] and so on), duplicate names
// and IDs, unknown nodes, parents that are unknown or below their group, more than four groups in each
// other (as in Kubernetes v1.37), more than [MaxResources] resources, and, if nothing else is wrong, a node with a usage over 2^62.
func NewSnapshot(st State) (*Snapshot, error) {
	inside := state.State(st)
	c, err := state.New(&inside)
	if err != nil {
		return nil, err
	}
	return &Snapshot{cluster: c}, nil
}

// State returns a deep copy of the snapshot's state: nodes, pods and groups by name or ID, budgets by namespace and
// name. [Snapshot.Nodes] and [Snapshot.Pods] walk it without a copy of the whole.
func (s *Snapshot) State() State { return State(s.inside().State()) }
