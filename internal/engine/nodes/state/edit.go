package state

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/workload"
)

func (e *Edit) hasNode(name string) bool { return e.c.NodeNumber(name) >= 0 }

// Run adds a running pod, or replaces the one with that ID.
func (e *Edit) Run(p workload.Pod) fault.List {
	e.KnownClaims(e.path, &p, e.hasClaim)
	if e.pod(e.path, &p, e.hasNode); e.List != nil {
		return e.List
	}
	if running := e.c.Pod(p.ID); running != nil {
		e.detach(running)
	}
	e.Withdraw(p.ID)
	e.addColumns(p.Requests)
	e.attach(p)
	return e.List
}

// StartEviction marks a pod as terminating because it was preempted, since the given time.
func (e *Edit) StartEviction(id string, since time.Time) fault.List {
	running := e.c.Pod(id)
	if running == nil {
		e.Add(e.path, "no pod %q runs", id)
		return e.List
	}
	if e.Instant(e.path+".at", since); e.List != nil {
		return e.List
	}
	e.detach(running)
	facts := running.Facts
	if !facts.Terminating {
		facts.TerminatingSince = since
	}
	facts.Terminating, facts.Preempted = true, true
	e.attach(facts)
	return e.List
}

// Remove removes a running pod. Its node has it until [Cluster.SettleGone].
func (e *Edit) Remove(id string) fault.List {
	if running := e.c.Pod(id); running != nil {
		e.c.gone = append(e.c.gone, running) // no other cluster reads what is behind
		e.leave(running)
	} else {
		e.Add(e.path, "no pod %q runs", id)
	}
	return e.List
}

// Nominate promises room on its node to a waiting pod, in place of an earlier nomination.
func (e *Edit) Nominate(p workload.Pod) fault.List {
	e.pod(e.path, &p, e.hasNode)
	e.KnownClaims(e.path, &p, e.hasClaim)
	if e.c.Pod(p.ID) != nil {
		e.Add(e.path, "pod %q runs", p.ID)
	}
	if p.Terminating {
		e.Add(e.path+".terminating", "a pod that waits does not terminate")
	}
	if e.List != nil {
		return e.List
	}
	e.Withdraw(p.ID)
	e.addColumns(p.Requests)
	e.promise(p)
	return e.List
}

// Withdraw withdraws the nomination of a pod.
func (e *Edit) Withdraw(id string) {
	p := e.c.PromisedPod(id)
	if p == nil {
		return
	}
	e.c.Promised, _ = e.c.Promised.Delete(id)
	e.c.hold(&p.Facts, false)
	n := e.c.Node(p.Node)
	e.rebuild(n.Facts, n.Number, n.Pods, without(n.Promised, p))
}

// SetGroup adds a group or replaces the one with that ID.
func (e *Edit) SetGroup(g workload.PodGroup) fault.List {
	e.All(g.Validate(e.path))
	e.checkParent(&g)
	if e.checkFixed(&g); e.List == nil {
		e.setGroup(g, true)
	}
	return e.List
}

// RemoveGroup removes a group without groups below it; its pods then run as single pods.
func (e *Edit) RemoveGroup(id string) fault.List {
	switch g := e.c.KnownGroup(id); {
	case g == nil:
		e.Add(e.path, "no group %q", id)
	case len(g.children) > 0:
		e.Add(e.path, "group %q is the parent of %q", id, g.children[0])
	default:
		e.setGroup(workload.PodGroup{ID: id}, false)
	}
	return e.List
}

// SetNode adds a node or replaces the one with that name.
func (e *Edit) SetNode(n workload.Node) fault.List {
	if e.All(n.Validate(e.path)); e.List != nil {
		return e.List
	}
	e.addColumns(n.Capacity)
	if number := e.c.NodeNumber(n.Name); number >= 0 {
		old := e.c.Node(number)
		e.fill(n, number, old.Pods, old.Promised)
	} else {
		e.addNode(n)
	}
	return e.List
}

// addNode adds a node with a number of its own.
func (e *Edit) addNode(facts workload.Node) {
	c := e.c
	number := int32(c.nodes.Len())
	if last := len(c.free) - 1; last >= 0 {
		number, c.free = c.free[last], c.free[:last:last]
	} else {
		c.nodes = c.nodes.Append(nil)
	}
	e.rebuild(facts, number, nil, nil)
	c.numbers = c.numbers.Set(numbered{facts.Name, number})
	c.Order = slices.Insert(slices.Clip(c.Order), e.rankOf(facts.Name), number)
}

// rankOf returns where a name is, or would be, among the names of nodes.
func (e *Edit) rankOf(name string) int {
	at, _ := slices.BinarySearchFunc(e.c.Order, name, func(number int32, name string) int {
		return strings.Compare(e.c.NodeName(number), name)
	})
	return at
}

// RemoveNode removes a node without pods.
func (e *Edit) RemoveNode(name string) fault.List {
	c := e.c
	number := c.NodeNumber(name)
	if number < 0 {
		e.Add(e.path, "no node %q", name)
		return e.List
	}
	if n := c.Node(number); len(n.Pods)+len(n.Promised) > 0 {
		e.Add(e.path, "%d pods run on node %q or are nominated to it", len(n.Pods)+len(n.Promised), name)
		return e.List
	}
	rank := e.rankOf(name)
	c.Order = slices.Delete(slices.Clone(c.Order), rank, rank+1)
	c.nodes, c.free = c.nodes.Set(int(number), nil), append(slices.Clip(c.free), number)
	c.numbers, _ = c.numbers.Delete(name)
	return e.List
}

// addColumns numbers new resources. If there are too many, it numbers all anew, without the resources that nothing
// uses.
func (e *Edit) addColumns(r workload.Resources) {
	missing := e.c.Columns.missing(r)
	if len(missing) == 0 {
		return
	}
	if len(e.c.Columns.Names)+len(missing) > MaxResources+1 {
		st := e.c.State()
		if next, err := New(&st); err == nil {
			*e.c = *next
		}
		missing = e.c.Columns.missing(r)
	}
	names := slices.Concat(e.c.Columns.Names, missing)
	if len(names) > MaxResources+1 {
		e.Add(e.path, "%d different resources, more than %d", len(names)-1, MaxResources)
	}
	e.c.Columns = newColumns(names)
}

// FixedEqual reports whether two forms of a group are equal in what is fixed while the group has pods.
func FixedEqual(a, b *workload.PodGroup) bool {
	return a.Priority == b.Priority && a.DisruptionMode == b.DisruptionMode && a.Parent == b.Parent
}

// checkFixed finds changes that a group may not make while it or a group below it has pods.
func (e *Edit) checkFixed(next *workload.PodGroup) {
	g := e.c.KnownGroup(next.ID)
	if g == nil || FixedEqual(&g.Facts, next) {
		return
	}
	pods := 0
	for _, g := range e.c.below(g) {
		pods += len(g.Members)
	}
	for p := range e.c.Promised.All {
		if e.c.IsBelow(p.Facts.Group, next.ID) {
			pods++
		}
	}
	if pods == 0 {
		return
	}
	const fixed = "%v is not the %v that it is: fixed while the group has pods (%d)"
	if g.Facts.Priority != next.Priority {
		e.Add(e.path+".priority", fixed, next.Priority, g.Facts.Priority, pods)
	}
	if g.Facts.DisruptionMode != next.DisruptionMode {
		e.Add(e.path+".disruptionMode", fixed, next.DisruptionMode, g.Facts.DisruptionMode, pods)
	}
	if g.Facts.Parent != next.Parent {
		e.Add(e.path+".parent", fixed, strconv.Quote(next.Parent), strconv.Quote(g.Facts.Parent), pods)
	}
}

// setGroup removes the pods of the group and of the groups below it and adds them again, because their priority and
// units change.
func (e *Edit) setGroup(facts workload.PodGroup, known bool) {
	g := e.c.Group(facts.ID)
	if g == nil {
		g = newGroup(facts, false, nil)
	}
	groups, within := e.c.below(g), map[string]bool{}
	var members []*Pod
	for _, g := range groups {
		within[g.Facts.ID] = true
		members = append(members, g.Members...)
	}
	for _, p := range members {
		e.detach(e.c.Pod(p.Facts.ID)) // removing the ones before may have moved the surplus
	}
	if e.setChild(&g.Facts, false); known {
		e.setChild(&facts, true)
	}
	for i, g := range groups { // parents first
		if i > 0 {
			facts, known = g.Facts, g.Known
		}
		next := newGroup(facts, known, e.c.KnownGroup(facts.Parent))
		next.children = g.children
		e.replaceGroup(new(Group), next)
	}
	for _, p := range members {
		e.attach(p.Facts)
	}
	for _, p := range sorted(e.c.Promised, (*Pod).id) { // faults are ordered by ID
		if within[p.Facts.Group] {
			e.Withdraw(p.Facts.ID)
			e.promise(p.Facts)
		}
	}
}
