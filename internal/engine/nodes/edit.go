package nodes

import (
	"reflect"
	"slices"
	"time"

	"github.com/cedesched/cede/fault"
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

// SetBudget adds a budget or replaces the one with that namespace and name.
func (c *Cluster) SetBudget(path string, b workload.DisruptionBudget) fault.List {
	var f validator
	if f.all(b.Validate(path)); f.List != nil {
		return f.List
	}
	at, found := c.findBudget(keyOf(&b))
	if found && reflect.DeepEqual(c.budgets[at].Facts.Selector, b.Selector) { // covers the same pods
		c.budgets = slices.Clone(c.budgets)
		c.budgets[at] = newBudget(b)
		return nil
	}
	st := c.State()
	if found {
		st.Budgets[at] = b
	} else {
		st.Budgets = append(st.Budgets, b)
	}
	c.become(path, &f, &st)
	return f.List
}

// RemoveBudget removes a budget.
func (c *Cluster) RemoveBudget(path, namespace, name string) fault.List {
	var f validator
	at, found := c.findBudget(budgetKey{namespace, name})
	if !found {
		f.Add(path, "no budget %v", budgetKey{namespace, name})
		return f.List
	}
	st := c.State()
	st.Budgets = slices.Delete(st.Budgets, at, at+1)
	c.become(path, &f, &st)
	return f.List
}

func (c *Cluster) findBudget(key budgetKey) (at int, found bool) {
	return slices.BinarySearchFunc(c.budgets, key, func(b budget, k budgetKey) int {
		return keyOf(&b.Facts).compare(k)
	})
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
	st := c.State()
	st.Nodes = append(st.Nodes, n)
	c.become(path, &f, &st)
	return f.List
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
	st := c.State()
	st.Nodes = slices.Delete(st.Nodes, at, at+1)
	c.become(path, &f, &st)
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
		c.detach(p)
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

// become rebuilds the cluster from a state.
func (c *Cluster) become(path string, f *validator, st *State) {
	next, err := New(st)
	if err == nil {
		*c = *next
		return
	}
	for _, fault := range err.(fault.List) {
		f.Add(path, "%s", fault.Problem)
	}
}
