package placement

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/cedesched/cede/fault"
)

// Edit is a change of a snapshot, for [Snapshot.With]. The zero value changes nothing.
type Edit struct {
	kind      editKind
	pod       Pod
	node      Node
	group     Group
	budget    Budget
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
func Run(p Pod) Edit { return Edit{kind: editRun, pod: p.Clone(), name: p.ID} }

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
func Nominate(p Pod) Edit { return Edit{kind: editNominate, pod: p.Clone(), name: p.ID} }

// Withdraw takes the promise to a pod back. It changes nothing when there is none.
func Withdraw(id string) Edit { return Edit{kind: editWithdraw, name: id} }

// SetGroup adds a group or replaces the one of that ID. It costs what its pods cost. It
// fails when the group is malformed, or when its priority or disruption mode would
// change while pods of it run or are nominated (KEP-5710: both are immutable).
func SetGroup(g Group) Edit { return Edit{kind: editSetGroup, group: g, name: g.ID} }

// RemoveGroup takes a group away; its pods run on by themselves. It fails when there is
// none of that ID.
func RemoveGroup(id string) Edit { return Edit{kind: editRemoveGroup, name: id} }

// SetBudget adds a budget or replaces the one of that namespace and name. When it covers
// others than before it costs as much as there are pods. It fails when it is malformed.
func SetBudget(b Budget) Edit {
	return Edit{kind: editSetBudget, budget: b.Clone(), name: b.Name, namespace: b.Namespace}
}

// RemoveBudget takes a budget away. It costs as much as there are pods, and fails when
// there is no such budget.
func RemoveBudget(namespace, name string) Edit {
	return Edit{kind: editRemoveBudget, name: name, namespace: namespace}
}

// SetNode adds a node or replaces the one of that name. Adding costs as much as there are
// pods. It fails when the node is malformed.
func SetNode(n Node) Edit { return Edit{kind: editSetNode, node: n.Clone(), name: n.Name} }

// RemoveNode takes a node away. It costs as much as there are pods, and fails when there
// is none of that name, or while pods run there or are nominated to it.
func RemoveNode(name string) Edit { return Edit{kind: editRemoveNode, name: name} }

// With returns the snapshot with the edits applied in order; s is left as it is and shares
// what they do not touch. An edit of a pod costs O(log n) in the number of pods and the
// pods of its node and group, unless its edit says more. It fails with [fault.List] that list
// every edit that cannot be made, each judged as if the failed ones before it were not
// there; paths begin with "edits[i]". With the error it returns s.
func (s *Snapshot) With(edits ...Edit) (*Snapshot, error) {
	c := *s.cluster()
	var faults fault.List
	for i := range edits {
		next := c
		if err := next.apply(fmt.Sprintf("edits[%d]", i), &edits[i]); err != nil {
			faults = append(faults, err...)
		} else {
			c = next
		}
	}
	if err := faults.Err(); err != nil {
		return s, err
	}
	return &Snapshot{&c}, nil
}

// apply changes the cluster, which is of no use after an error.
func (c *cluster) apply(path string, e *Edit) fault.List {
	var f validator
	running := c.pod(c.pods, e.name)
	known := func(node string) bool { return c.nodeNumber(node) >= 0 }
	switch e.kind {
	case editRun:
		if f.pod(path, &e.pod, known); f.List != nil {
			return f.List
		}
		if running != nil {
			c.detach(running)
		}
		c.withdraw(e.name)
		c.addColumns(path, &f, e.pod.Requests)
		c.attach(path, &f, e.pod.Clone())
	case editStartEviction, editRemove:
		if running == nil {
			f.Add(path, "no pod %q runs", e.name)
			break
		}
		c.detach(running)
		if e.kind == editStartEviction {
			facts := running.facts
			if !facts.Terminating {
				facts.TerminatingSince = e.at
			}
			facts.Terminating, facts.Preempted = true, true
			if f.instant(path+".at", e.at); f.List == nil {
				c.attach(path, &f, facts)
			}
		}
	case editNominate:
		f.pod(path, &e.pod, known)
		if running != nil {
			f.Add(path, "pod %q runs", e.name)
		}
		if e.pod.Terminating {
			f.Add(path+".terminating", "a pod that waits does not terminate")
		}
		if f.List != nil {
			break
		}
		c.withdraw(e.name)
		c.addColumns(path, &f, e.pod.Requests)
		c.nominate(path, &f, e.pod.Clone())
	case editWithdraw:
		c.withdraw(e.name)
	case editSetGroup:
		f.group(path, &e.group)
		if c.immutable(path, &f, &e.group); f.List == nil {
			c.setGroup(path, &f, e.group, true)
		}
	case editRemoveGroup:
		if g := c.group(e.name); g == nil || !g.known {
			f.Add(path, "no group %q", e.name)
		} else {
			c.setGroup(path, &f, Group{ID: e.name}, false)
		}
	case editSetBudget, editRemoveBudget:
		c.setBudget(path, &f, e)
	case editSetNode, editRemoveNode:
		c.setNode(path, &f, e)
	}
	return f.List
}

// immutable finds what may not change of a group that has pods.
func (c *cluster) immutable(path string, f *validator, next *Group) {
	g := c.group(next.ID)
	if g == nil || !g.known || g.facts.Priority == next.Priority && g.facts.DisruptionMode == next.DisruptionMode {
		return
	}
	pods := len(g.members)
	for p := range c.nominated.All {
		if p.facts.Group == next.ID {
			pods++
		}
	}
	if pods == 0 {
		return
	}
	if g.facts.Priority != next.Priority {
		f.Add(path+".priority", "%d is not the %d that it is: fixed while the group has pods (%d)", next.Priority, g.facts.Priority, pods)
	}
	if g.facts.DisruptionMode != next.DisruptionMode {
		f.Add(path+".disruptionMode", "%v is not the %v that it is: fixed while the group has pods (%d)", next.DisruptionMode, g.facts.DisruptionMode, pods)
	}
}

// setGroup takes the group's pods out and in again: their priority and units change.
func (c *cluster) setGroup(path string, f *validator, facts Group, known bool) {
	g := c.group(facts.ID)
	if g == nil {
		g = newGroup(facts, false, nil)
	}
	members := g.members
	for _, p := range members {
		c.detach(p)
	}
	c.replaceGroup(newGroup(g.facts, g.known, nil), newGroup(facts, known, nil))
	for _, p := range members {
		c.attach(path, f, p.facts)
	}
	for _, p := range sorted(c.nominated, (*pod).id) { // faults come by ID
		if p.facts.Group == facts.ID {
			c.withdraw(p.facts.ID)
			c.nominate(path, f, p.facts)
		}
	}
}

func (c *cluster) setBudget(path string, f *validator, e *Edit) {
	at, found := slices.BinarySearchFunc(c.budgets, budgetKey{e.namespace, e.name}, func(b budget, k budgetKey) int {
		return b.facts.key().compare(k)
	})
	if e.kind == editSetBudget {
		if f.budget(path, &e.budget); f.List != nil {
			return
		}
		if found && reflect.DeepEqual(c.budgets[at].facts.Selector, e.budget.Selector) { // covers the same pods
			c.budgets = slices.Clone(c.budgets)
			c.budgets[at] = newBudget(e.budget.Clone())
			return
		}
	} else if !found {
		f.Add(path, "no budget %v", budgetKey{e.namespace, e.name})
		return
	}
	st := (&Snapshot{c}).State()
	switch {
	case e.kind == editRemoveBudget:
		st.Budgets = slices.Delete(st.Budgets, at, at+1)
	case found:
		st.Budgets[at] = e.budget
	default:
		st.Budgets = append(st.Budgets, e.budget)
	}
	c.become(path, f, st)
}

func (c *cluster) setNode(path string, f *validator, e *Edit) {
	at := c.nodeNumber(e.name)
	if e.kind == editSetNode {
		if f.node(path, &e.node); f.List != nil {
			return
		}
		if at >= 0 {
			c.addColumns(path, f, e.node.Capacity)
			n := c.nodes.At(at)
			c.rebuild(path, f, e.node.Clone(), n.number, n.pods, n.nominated)
			return
		}
		st := (&Snapshot{c}).State()
		st.Nodes = append(st.Nodes, e.node)
		c.become(path, f, st)
		return
	}
	if at < 0 {
		f.Add(path, "no node %q", e.name)
		return
	}
	if n := c.nodes.At(at); len(n.pods)+len(n.nominated) > 0 {
		f.Add(path, "%d pods run on node %q or are nominated to it", len(n.pods)+len(n.nominated), e.name)
		return
	}
	st := (&Snapshot{c}).State()
	st.Nodes = slices.Delete(st.Nodes, at, at+1)
	c.become(path, f, st)
}

// become builds the cluster anew.
func (c *cluster) become(path string, f *validator, st State) {
	next, err := build(st)
	if err == nil {
		*c = *next
		return
	}
	for _, fault := range err.(fault.List) {
		f.Add(path, "%s", fault.Problem)
	}
}
