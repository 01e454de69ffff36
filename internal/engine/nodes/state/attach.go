package state

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/workload"
)

// Edit makes one change of a cluster, which must be a copy that no caller has seen. The paths of its faults begin
// with a path. After faults the copy must not be used. Arguments must be copies, too: the cluster keeps them.
type Edit struct {
	c    *Cluster
	path string
	Check
}

// Edit returns an edit of the cluster.
func (c *Cluster) Edit(path string) Edit { return Edit{c: c, path: path} }

// rebuild replaces a node with one that has other pods. It reports whether the usage of each resource is within
// bounds.
func (e *Edit) rebuild(facts workload.Node, number int32, pods, promised []*Pod) (ok bool) {
	n, ok := newNode(e.c.Columns, facts, number, pods, promised, new(nodeMemory))
	e.c.nodes = e.c.nodes.Set(int(number), n)
	return ok
}

// fill is rebuild for a node that may get too many pods.
func (e *Edit) fill(facts workload.Node, number int32, pods, promised []*Pod) {
	if !e.rebuild(facts, number, pods, promised) {
		e.Add(e.path, "more than 2^62 of a resource is used of node %q", facts.Name)
	}
}

// insert returns a copy of a sorted list with the pod added.
func insert(list []*Pod, p *Pod, compare func(a, b *Pod) int) []*Pod {
	at, _ := slices.BinarySearchFunc(list, p, compare)
	return slices.Concat(list[:at], []*Pod{p}, list[at:])
}

// without returns a copy of a list without the pod.
func without(list []*Pod, p *Pod) []*Pod {
	at := slices.Index(list, p)
	return slices.Concat(list[:at], list[at+1:])
}

// attach adds a running pod.
func (e *Edit) attach(facts workload.Pod) {
	p := e.c.newPod(facts, e.c.NodeNumber(facts.Node), e.c.Group(facts.Group))
	e.c.Running = e.c.Running.Set(p)
	e.c.hold(&p.Facts, true)
	n := e.c.Node(p.Node)
	e.fill(n.Facts, n.Number, insert(n.Pods, p, ComparePods), n.Promised)
	e.count(p, 1)
	e.regroup(p, true, func(members []*Pod) []*Pod { return insert(members, p, compareUIDs) })
}

// detach removes a running pod.
func (e *Edit) detach(p *Pod) {
	n := e.c.Node(p.Node)
	e.rebuild(n.Facts, n.Number, without(n.Pods, p), n.Promised)
	e.leave(p)
}

// leave removes a running pod from all but its node.
func (e *Edit) leave(p *Pod) {
	e.c.Running, _ = e.c.Running.Delete(p.Facts.ID)
	e.c.hold(&p.Facts, false)
	e.count(p, -1)
	e.regroup(p, false, func(members []*Pod) []*Pod { return without(members, p) })
}

// SettleGone takes removed pods from their nodes: once from each node for all removals in a row.
func (c *Cluster) SettleGone() {
	e, gone := c.Edit(""), c.gone
	c.gone = nil
	slices.SortFunc(gone, func(a, b *Pod) int { return cmp.Compare(a.Node, b.Node) })
	for len(gone) > 0 {
		n, here := c.Node(gone[0].Node), 1
		for here < len(gone) && gone[here].Node == n.Number {
			here++
		}
		left := make([]*Pod, 0, len(n.Pods)-here)
		for _, p := range n.Pods {
			if c.Pod(p.Facts.ID) == p {
				left = append(left, p)
			}
		}
		e.rebuild(n.Facts, n.Number, left, n.Promised)
		gone = gone[here:]
	}
}

// promise adds a waiting pod that is nominated.
func (e *Edit) promise(facts workload.Pod) {
	p := e.c.newPod(facts, e.c.NodeNumber(facts.Node), e.c.Group(facts.Group))
	e.c.Promised = e.c.Promised.Set(p)
	e.c.hold(&p.Facts, true)
	n := e.c.Node(p.Node)
	e.fill(n.Facts, n.Number, n.Pods, insert(n.Promised, p, ComparePods))
}

// regroup changes the members of the group of a pod, and of the group above it that the pod yields with, and updates
// the covered units.
func (e *Edit) regroup(p *Pod, runs bool, change func(members []*Pod) []*Pod) {
	e.cover(p.Single, runs)
	if p.Facts.Group == "" {
		return
	}
	g := e.c.Group(p.Facts.Group)
	if g == nil {
		g = newGroup(workload.PodGroup{ID: p.Facts.Group}, false, nil)
	}
	e.replaceGroup(g, g.with(change(g.Members), g.nested))
	if g.unit != "" && g.unit != g.Facts.ID {
		above := e.c.Group(g.unit)
		e.replaceGroup(above, above.with(above.Members, change(above.nested)))
	}
}

// replaceGroup puts a group in the place of one. The next one is not shared yet.
func (e *Edit) replaceGroup(old, next *Group) {
	e.moveSurplus(next)
	for _, u := range old.units() {
		e.cover(u, false)
	}
	for _, u := range next.units() {
		e.cover(u, true)
	}
	if c := e.c; next.Known || len(next.Members) > 0 {
		c.groups = c.groups.Set(next)
	} else {
		c.groups, _ = c.groups.Delete(next.Facts.ID)
	}
}

// moveSurplus makes the running pods of a group anew that have become surplus, or have become part of the minimum.
func (e *Edit) moveSurplus(g *Group) {
	for i, p := range g.running {
		if p.surplus == g.isSurplus(&p.Facts) {
			continue
		}
		made := &podWithUnit{unitPod: unitPod{pod: *p}}
		next := &made.pod
		next.surplus = !p.surplus
		made.makeUnit()
		g.running[i], g.Members[slices.Index(g.Members, p)] = next, next
		n := e.c.Node(p.Node)
		pods := slices.Clone(n.Pods)
		pods[slices.Index(pods, p)] = next
		e.rebuild(n.Facts, n.Number, pods, n.Promised)
		e.c.Running = e.c.Running.Set(next)
		e.cover(p.Single, false)
		e.cover(next.Single, true)
	}
}

// count counts a running pod by its priority, and whether it has a minimum runtime or several budgets.
func (e *Edit) count(p *Pod, change int) {
	c := e.c
	c.countSpecial(p, change)
	next := levelCount{p.Priority, change}
	if old, ok := c.levels.Last(func(l levelCount) bool { return l.priority <= p.Priority }); ok && old.priority == p.Priority {
		next.pods += old.pods
	}
	if next.pods > 0 {
		c.levels = c.levels.Insert(next)
	} else {
		c.levels, _ = c.levels.Delete(next)
	}
}

// countSpecial counts whether a running pod has a minimum runtime or several budgets.
func (c *Cluster) countSpecial(p *Pod, change int) {
	if p.hasMinimum() {
		c.minimums += change
	}
	if len(p.Budgets) > 1 {
		c.shared += change
	}
}

// cover adds a unit to the indexes of covered units, or removes it.
func (e *Edit) cover(u *Unit, runs bool) {
	if u == nil || !u.Covered {
		return
	}
	c := e.c
	if runs {
		c.covered = c.covered.Insert(u)
	} else {
		c.covered, _ = c.covered.Delete(u)
	}
	var slots [8]int32
	for _, slot := range u.budgets(slots[:0]) {
		if runs {
			c.byBudget = c.byBudget.Insert(coverage{slot, u})
		} else {
			c.byBudget, _ = c.byBudget.Delete(coverage{slot, u})
		}
	}
}
