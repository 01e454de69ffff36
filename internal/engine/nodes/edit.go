package nodes

import (
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption/fault"
	"github.com/cedesched/cede/workload"
)

// Each edit changes the cluster, which must be a copy that no caller has seen. After faults,
// whose paths begin with the given one, the copy must not be used. Arguments must be copies,
// too: the cluster keeps them.

func (c *Cluster) known(node string) bool { return c.nodeNumber(node) >= 0 }

// Run adds a running pod, or replaces the one with that ID.
func (c *Cluster) Run(path string, p workload.Pod) fault.List {
	var f validator
	if f.pod(path, &p, c.known); f.List != nil {
		return f.List
	}
	if running := c.pod(c.pods, p.ID); running != nil {
		c.detach(running)
	}
	c.withdraw(p.ID)
	c.addColumns(path, &f, p.Requests)
	c.attach(path, &f, p)
	return f.List
}

// StartEviction marks a pod as terminating because it was preempted, since the given time.
func (c *Cluster) StartEviction(path, id string, at time.Time) fault.List {
	var f validator
	running := c.pod(c.pods, id)
	if running == nil {
		f.Add(path, "no pod %q runs", id)
		return f.List
	}
	if f.instant(path+".at", at); f.List != nil {
		return f.List
	}
	c.detach(running)
	facts := running.Facts
	if !facts.Terminating {
		facts.TerminatingSince = at
	}
	facts.Terminating, facts.Preempted = true, true
	c.attach(path, &f, facts)
	return f.List
}

// Remove removes a running pod.
func (c *Cluster) Remove(path, id string) fault.List {
	var f validator
	if running := c.pod(c.pods, id); running != nil {
		c.detach(running)
	} else {
		f.Add(path, "no pod %q runs", id)
	}
	return f.List
}

// Nominate promises room on its node to a waiting pod, in place of an earlier nomination.
func (c *Cluster) Nominate(path string, p workload.Pod) fault.List {
	var f validator
	f.pod(path, &p, c.known)
	if c.pod(c.pods, p.ID) != nil {
		f.Add(path, "pod %q runs", p.ID)
	}
	if p.Terminating {
		f.Add(path+".terminating", "a pod that waits does not terminate")
	}
	if f.List != nil {
		return f.List
	}
	c.withdraw(p.ID)
	c.addColumns(path, &f, p.Requests)
	c.nominate(path, &f, p)
	return f.List
}

// Withdraw withdraws the nomination of a pod.
func (c *Cluster) Withdraw(id string) { c.withdraw(id) }

// SetGroup adds a group or replaces the one with that ID.
func (c *Cluster) SetGroup(path string, g workload.PodGroup) fault.List {
	var f validator
	f.all(g.Validate(path))
	if c.immutable(path, &f, &g); f.List == nil {
		c.setGroup(path, &f, g, true)
	}
	return f.List
}

// RemoveGroup removes a group; its pods then run as single pods.
func (c *Cluster) RemoveGroup(path, id string) fault.List {
	var f validator
	if g := c.group(id); g == nil || !g.known {
		f.Add(path, "no group %q", id)
	} else {
		c.setGroup(path, &f, workload.PodGroup{ID: id}, false)
	}
	return f.List
}

// SetNode adds a node or replaces the one with that name.
func (c *Cluster) SetNode(path string, n workload.Node) fault.List {
	var f validator
	if f.all(n.Validate(path)); f.List != nil {
		return f.List
	}
	if at := c.nodeNumber(n.Name); at >= 0 {
		c.addColumns(path, &f, n.Capacity)
		old := c.nodes.At(at)
		c.rebuild(path, &f, n, old.number, old.pods, old.nominated)
		return f.List
	}
	c.addColumns(path, &f, n.Capacity)
	c.addNode(n)
	return f.List
}

// addNode adds a node with a number of its own.
func (c *Cluster) addNode(facts workload.Node) {
	number := int32(c.nodes.Len())
	if last := len(c.free) - 1; last >= 0 {
		number, c.free = c.free[last], c.free[:last:last]
	} else {
		c.nodes = c.nodes.Append(nil)
	}
	n, _ := newNode(c.columns, facts, number, nil, nil, new(nodeRoom)) // nothing is used
	c.nodes = c.nodes.Set(int(number), n)
	c.numbers = c.numbers.Set(numbered{facts.Name, number})
	c.order = slices.Insert(slices.Clip(c.order), c.rankOf(facts.Name), number)
}

// rankOf returns where a name is, or would be, among the names of nodes.
func (c *Cluster) rankOf(name string) int {
	at, _ := slices.BinarySearchFunc(c.order, name, func(number int32, name string) int {
		return strings.Compare(c.NodeName(number), name)
	})
	return at
}

// RemoveNode removes a node without pods.
func (c *Cluster) RemoveNode(path, name string) fault.List {
	var f validator
	at := c.nodeNumber(name)
	if at < 0 {
		f.Add(path, "no node %q", name)
		return f.List
	}
	if n := c.nodes.At(at); len(n.pods)+len(n.nominated) > 0 {
		f.Add(path, "%d pods run on node %q or are nominated to it", len(n.pods)+len(n.nominated), name)
		return f.List
	}
	rank := c.rankOf(name)
	c.order = slices.Delete(slices.Clone(c.order), rank, rank+1)
	c.nodes, c.free = c.nodes.Set(at, nil), append(slices.Clip(c.free), int32(at))
	c.numbers, _ = c.numbers.Delete(name)
	return f.List
}

// immutable finds changes that a group with pods may not make.
func (c *Cluster) immutable(path string, f *validator, next *workload.PodGroup) {
	g := c.group(next.ID)
	if g == nil || !g.known || g.Facts.Priority == next.Priority && g.Facts.DisruptionMode == next.DisruptionMode {
		return
	}
	pods := len(g.members)
	for p := range c.nominated.All {
		if p.Facts.Group == next.ID {
			pods++
		}
	}
	if pods == 0 {
		return
	}
	if g.Facts.Priority != next.Priority {
		f.Add(path+".priority", "%d is not the %d that it is: fixed while the group has pods (%d)", next.Priority, g.Facts.Priority, pods)
	}
	if g.Facts.DisruptionMode != next.DisruptionMode {
		f.Add(path+".disruptionMode", "%v is not the %v that it is: fixed while the group has pods (%d)", next.DisruptionMode, g.Facts.DisruptionMode, pods)
	}
}

// setGroup removes the pods of the group and adds them again: their priority and units
// change.
func (c *Cluster) setGroup(path string, f *validator, facts workload.PodGroup, known bool) {
	g := c.group(facts.ID)
	if g == nil {
		g = newGroup(facts, false, nil)
	}
	members := g.members
	for _, p := range members {
		c.detach(c.pod(c.pods, p.Facts.ID)) // it may have become surplus, or the reverse
	}
	c.replaceGroup(newGroup(g.Facts, g.known, nil), newGroup(facts, known, nil))
	for _, p := range members {
		c.attach(path, f, p.Facts)
	}
	for _, p := range sorted(c.nominated, (*Pod).id) { // faults are ordered by ID
		if p.Facts.Group == facts.ID {
			c.withdraw(p.Facts.ID)
			c.nominate(path, f, p.Facts)
		}
	}
}
