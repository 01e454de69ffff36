package preemption

import (
	"slices"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/internal/engine/assign"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/queue"
)

// Snapshot is an immutable cluster: configuration, running workloads, usage. Any number of
// goroutines may use one. Make it with [NewSnapshot]; the zero value is an empty cluster.
type Snapshot struct {
	cluster *cluster.Cluster
	plans   *assign.Plans // of the cluster's configuration, and of the flavors

	// For the next Sync: the workloads as the last Sync found them, and the IDs of those
	// edited since.
	order  []*cluster.Workload
	edited []string
}

var empty = func() *cluster.Cluster {
	c, _ := cluster.New(nil, nil, nil) // an empty configuration is valid
	return c
}()

func (s *Snapshot) inside() *cluster.Cluster {
	if s == nil || s.cluster == nil {
		return empty
	}
	return s.cluster
}

// flavors returns what is known about flavors, by name.
func (s *Snapshot) flavors() []queue.Flavor {
	if s == nil || s.plans == nil {
		return nil
	}
	return s.plans.Flavors()
}

// with returns the snapshot of a cluster made by edits of this one. flavors is nil if
// unchanged.
func (s *Snapshot) with(c *cluster.Cluster, flavors []queue.Flavor) *Snapshot {
	if flavors == nil {
		if s != nil && s.plans != nil && s.cluster.Shape == c.Shape {
			return &Snapshot{cluster: c, plans: s.plans}
		}
		flavors = s.flavors()
	}
	return &Snapshot{cluster: c, plans: assign.NewPlans(c, flavors)}
}

// NewSnapshot makes a snapshot of a state, which it copies. It fails with a [fault.List] of
// everything wrong with the state, by path: what [queue.Validate], [workload.Validate] and
// [queue.ValidateFlavors] find, a workload in an unknown queue, a duplicate ID, a usage over
// [quota.MaxUsage].
func NewSnapshot(st State) (*Snapshot, error) {
	c, err := cluster.New(st.Cohorts, st.Queues, st.Admitted)
	faults, _ := err.(fault.List)
	ofFlavors, _ := queue.ValidateFlavors(st.Flavors).(fault.List)
	faults = append(faults, ofFlavors...)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return &Snapshot{cluster: c, plans: assign.NewPlans(c, cloneFlavors(st.Flavors))}, nil
}

// State returns a deep copy of the snapshot's state: cohorts, queues and flavors by name,
// workloads by ID. [Snapshot.Cohorts], [Snapshot.Queues] and [Snapshot.Workloads] walk it
// without a copy of the whole.
func (s *Snapshot) State() State {
	return State{
		Cohorts:  slices.Collect(s.Cohorts()),
		Queues:   slices.Collect(s.Queues()),
		Flavors:  cloneFlavors(s.flavors()),
		Admitted: slices.Collect(s.Workloads()),
	}
}
