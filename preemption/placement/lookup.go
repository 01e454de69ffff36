package placement

import (
	"iter"

	"github.com/cedesched/cede/workload"
)

// Find returns a copy of a pod that runs; ok is false when there is none of that ID.
func (s *Snapshot) Find(id string) (p workload.Pod, ok bool) { return s.inside().Find(id) }

// Nominated returns a copy of a pod that waits and was promised room; ok is false when there
// is none of that ID.
func (s *Snapshot) Nominated(id string) (p workload.Pod, ok bool) { return s.inside().Nominated(id) }

// Node returns a copy of a node; ok is false for an unknown one.
func (s *Snapshot) Node(name string) (n workload.Node, ok bool) { return s.inside().Node(name) }

// Group returns a copy of a pod group; ok is false for an unknown one.
func (s *Snapshot) Group(id string) (g workload.PodGroup, ok bool) { return s.inside().Group(id) }

// PodsOn iterates over copies of the pods that run on a node, by ID; there are none on an
// unknown one. It costs what they cost, not what the snapshot does.
func (s *Snapshot) PodsOn(node string) iter.Seq[workload.Pod] { return s.inside().PodsOn(node) }

// Terminating returns the IDs of the pods that run and terminate, by node and ID. It looks
// at every pod and copies none.
func (s *Snapshot) Terminating() []string { return s.inside().Terminating() }
