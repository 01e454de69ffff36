package placement

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/internal/engine/nodes"
	"github.com/cedesched/cede/workload"
)

// Edit is a change of a snapshot, for [Snapshot.With]. The zero value changes nothing.
type Edit struct {
	kind      editKind
	pod       workload.Pod
	node      workload.Node
	group     workload.PodGroup
	budget    workload.DisruptionBudget
	name      string
	namespace string
	at        time.Time
}

type editKind uint8

const (
	editNothing editKind = iota
	editRun
	editStartEviction
	editRemove
	editNominate
	editWithdraw
	editSetGroup
	editRemoveGroup
	editSetBudget
	editRemoveBudget
	editSetNode
	editRemoveNode
)

// Run adds a pod that runs, or replaces the one of that ID; a promise to it is kept, so
// it is nominated no more. It fails when the pod is malformed or the node unknown.
func Run(p workload.Pod) Edit { return Edit{kind: editRun, pod: p.Clone(), name: p.ID} }

// StartEviction marks a pod as terminating because it was preempted, since a time that is
// not known. Doing so twice changes nothing. It fails when no pod of that ID runs.
func StartEviction(id string) Edit { return Edit{kind: editStartEviction, name: id} }

// StartEvictionAt is [StartEviction] with the time since when the pod terminates. A pod that
// terminates already keeps its own.
func StartEvictionAt(id string, at time.Time) Edit {
	return Edit{kind: editStartEviction, name: id, at: at}
}

// Remove takes a pod away that runs. It fails when there is none of that ID.
func Remove(id string) Edit { return Edit{kind: editRemove, name: id} }

// Nominate promises a pod that waits room on its node, in place of an earlier promise. It
// fails when the pod is malformed or runs, or the node is unknown.
func Nominate(p workload.Pod) Edit { return Edit{kind: editNominate, pod: p.Clone(), name: p.ID} }

// Withdraw takes the promise to a pod back. It changes nothing when there is none.
func Withdraw(id string) Edit { return Edit{kind: editWithdraw, name: id} }

// SetGroup adds a group or replaces the one of that ID. It costs what its pods cost. It
// fails when the group is malformed, or when its priority or disruption mode would
// change while pods of it run or are nominated (KEP-5710: both are immutable).
func SetGroup(g workload.PodGroup) Edit { return Edit{kind: editSetGroup, group: g, name: g.ID} }

// RemoveGroup takes a group away; its pods run on by themselves. It fails when there is
// none of that ID.
func RemoveGroup(id string) Edit { return Edit{kind: editRemoveGroup, name: id} }

// SetBudget adds a budget or replaces the one of that namespace and name. When it covers
// others than before it costs as much as there are pods. It fails when it is malformed.
func SetBudget(b workload.DisruptionBudget) Edit {
	return Edit{kind: editSetBudget, budget: b.Clone(), name: b.Name, namespace: b.Namespace}
}

// RemoveBudget takes a budget away. It costs as much as there are pods, and fails when
// there is no such budget.
func RemoveBudget(namespace, name string) Edit {
	return Edit{kind: editRemoveBudget, name: name, namespace: namespace}
}

// SetNode adds a node or replaces the one of that name. Adding costs as much as there are
// pods. It fails when the node is malformed.
func SetNode(n workload.Node) Edit { return Edit{kind: editSetNode, node: n.Clone(), name: n.Name} }

// RemoveNode takes a node away. It costs as much as there are pods, and fails when there
// is none of that name, or while pods run there or are nominated to it.
func RemoveNode(name string) Edit { return Edit{kind: editRemoveNode, name: name} }

// With returns the snapshot with the edits applied in order; s is left as it is and shares
// what they do not touch. An edit of a pod costs O(log n) in the number of pods and the
// pods of its node and group, unless its edit says more. It fails with [fault.List] that list
// every edit that cannot be made, each judged as if the failed ones before it were not
// there; paths begin with "edits[i]". With the error it returns s.
func (s *Snapshot) With(edits ...Edit) (*Snapshot, error) {
	c := *s.inside()
	var faults fault.List
	for i := range edits {
		next := c
		if wrong := edits[i].apply(&next, fmt.Sprintf("edits[%d]", i)); wrong != nil {
			faults = append(faults, wrong...)
		} else {
			c = next
		}
	}
	if err := faults.Err(); err != nil {
		return s, err
	}
	return &Snapshot{&c}, nil
}

// apply changes the cluster. The copies that the edit has are handed over: nobody changes
// them.
func (e *Edit) apply(c *nodes.Cluster, path string) fault.List {
	switch e.kind {
	case editRun:
		return c.Run(path, e.pod)
	case editStartEviction:
		return c.StartEviction(path, e.name, e.at)
	case editRemove:
		return c.Remove(path, e.name)
	case editNominate:
		return c.Nominate(path, e.pod)
	case editWithdraw:
		c.Withdraw(e.name)
	case editSetGroup:
		return c.SetGroup(path, e.group)
	case editRemoveGroup:
		return c.RemoveGroup(path, e.name)
	case editSetBudget:
		return c.SetBudget(path, e.budget)
	case editRemoveBudget:
		return c.RemoveBudget(path, e.namespace, e.name)
	case editSetNode:
		return c.SetNode(path, e.node)
	case editRemoveNode:
		return c.RemoveNode(path, e.name)
	}
	return nil
}
