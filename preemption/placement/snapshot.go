package placement

import (
	"github.com/cedesched/cede/internal/engine/nodes"
)

// Snapshot is an immutable cluster: nodes, what runs on them, groups, budgets, promises.
// Any number of goroutines may use one. Make it with [NewSnapshot]; the zero value is an
// empty cluster.
type Snapshot struct{ cluster *nodes.Cluster }

var empty, _ = nodes.New(new(nodes.State)) // nothing can be wrong with nothing

func (s *Snapshot) inside() *nodes.Cluster {
	if s == nil || s.cluster == nil {
		return empty
	}
	return s.cluster
}

// MaxResources bounds the number of different resources in a snapshot, those of a request
// included: each costs memory on every node.
const MaxResources = nodes.MaxResources

// NewSnapshot makes a snapshot of a state, which it copies. It fails with [fault.List] that
// list everything wrong with the state, by path: what the values' own Validate finds
// ([workload.Node.Validate] and so on), repeated names and IDs, unknown nodes, more than
// [MaxResources] resources, and, if nothing else is wrong, a node of which more than 2^62 is
// used.
func NewSnapshot(st State) (*Snapshot, error) {
	inside := nodes.State(st)
	c, err := nodes.New(&inside)
	if err != nil {
		return nil, err
	}
	return &Snapshot{c}, nil
}

// State returns a deep copy of what the snapshot is made of: nodes, pods and groups by
// name or ID, budgets by namespace and name.
func (s *Snapshot) State() State { return State(s.inside().State()) }
