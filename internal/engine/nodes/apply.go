package nodes

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/workload"
)

// addColumns numbers new resources.
func (c *Cluster) addColumns(path string, f *validator, r workload.Resources) {
	names := c.unused(r)
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if c.columns.of(name) < 0 {
			names = append(names[:len(names):len(names)], name)
		}
	}
	if len(names) > MaxResources+1 {
		f.Add(path, "%d different resources, more than %d", len(names)-1, MaxResources)
	}
	if len(names) > len(c.columns.names) {
		c.columns = newColumns(names)
	}
}

// unused returns the numbered resources. If those of r are too many beside them, it numbers
// anew, without resources that nobody has any more.
func (c *Cluster) unused(r workload.Resources) []string {
	more := 0
	for name := range r {
		if c.columns.of(name) < 0 {
			more++
		}
	}
	if len(c.columns.names)+more > MaxResources+1 {
		st := c.State()
		if next, err := New(&st); err == nil {
			*c = *next
		}
	}
	return c.columns.names
}

// rebuild replaces a node with one that has other pods.
func (c *Cluster) rebuild(path string, f *validator, facts workload.Node, number int32, pods, nominated []*Pod) {
	n, ok := newNode(c.columns, facts, number, pods, nominated, new(nodeRoom))
	if !ok && f != nil {
		f.Add(path, "more than 2^62 of a resource is used of node %q", facts.Name)
	}
	c.nodes = c.nodes.Set(int(number), n)
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

func (c *Cluster) attach(path string, f *validator, facts workload.Pod) {
	p := c.newPod(facts, int32(c.nodeNumber(facts.Node)), c.group(facts.Group))
	c.pods = c.pods.Set(p)
	n := c.nodes.At(int(p.node))
	c.rebuild(path, f, n.Facts, n.number, insert(n.pods, p, comparePods), n.nominated)
	c.count(p, 1)
	c.regroup(p, func(members []*Pod) []*Pod { return insert(members, p, compareUIDs) })
}

func (c *Cluster) detach(p *Pod) {
	c.pods, _ = c.pods.Delete(p.Facts.ID)
	n := c.nodes.At(int(p.node))
	c.rebuild("", nil, n.Facts, n.number, without(n.pods, p), n.nominated)
	c.count(p, -1)
	c.regroup(p, func(members []*Pod) []*Pod { return without(members, p) })
}

// regroup adds a pod to its group or removes it, and updates the covered units.
func (c *Cluster) regroup(p *Pod, change func(members []*Pod) []*Pod) {
	if p.single != nil {
		_, there := c.pods.Get(p.Facts.ID)
		c.cover(p.single, there)
	}
	if p.Facts.Group == "" {
		return
	}
	g := c.group(p.Facts.Group)
	if g == nil {
		g = newGroup(workload.PodGroup{ID: p.Facts.Group}, false, nil)
	}
	c.replaceGroup(g, newGroup(g.Facts, g.known, change(g.members)))
}

// moveSurplus makes running pods anew that are surplus now and were not before, or the reverse.
func (c *Cluster) moveSurplus(g *group) {
	for i, p := range g.running {
		if p.surplus == g.isSurplus(&p.Facts) {
			continue
		}
		a := &alone{pod: *p}
		next := &a.pod
		next.surplus = !p.surplus
		a.list[0] = next
		a.unit.fill("", a.list[:])
		next.single = &a.unit
		g.running[i], g.members[slices.Index(g.members, p)] = next, next
		c.pods = c.pods.Set(next)
		n := c.nodes.At(int(p.node))
		pods := slices.Clone(n.pods)
		pods[slices.Index(pods, p)] = next
		c.rebuild("", nil, n.Facts, n.number, pods, n.nominated)
		c.cover(p.single, false)
		c.cover(next.single, true)
	}
}

// replaceGroup puts a group in the place of one. The next one is not shared yet.
func (c *Cluster) replaceGroup(old, next *group) {
	c.moveSurplus(next)
	c.coverGroup(old, false)
	c.coverGroup(next, true)
	if next.known || len(next.members) > 0 {
		c.groups = c.groups.Set(next)
	} else {
		c.groups, _ = c.groups.Delete(next.Facts.ID)
	}
}

func (c *Cluster) coverGroup(g *group, there bool) {
	if g.whole != nil {
		c.cover(g.whole, there)
	}
	if g.staying != nil && g.staying != g.whole {
		c.cover(g.staying, there)
	}
}

// cover updates the indexes of covered units.
func (c *Cluster) cover(u *Unit, there bool) {
	if !u.covered {
		return
	}
	if there {
		c.covered = c.covered.Insert(u)
	} else {
		c.covered, _ = c.covered.Delete(u)
	}
	var slots [8]int32
	for _, slot := range u.budgets(slots[:0]) {
		if there {
			c.byBudget = c.byBudget.Insert(coverage{slot, u})
		} else {
			c.byBudget, _ = c.byBudget.Delete(coverage{slot, u})
		}
	}
}

// count counts a running pod by its priority, and whether it has a minimum runtime.
func (c *Cluster) count(p *Pod, change int) {
	if p.hasMinimum() {
		c.minimums += change
	}
	priority := p.priority
	next := priorityCount{priority, change}
	if old, ok := c.levels.Last(func(l priorityCount) bool { return l.priority <= priority }); ok && old.priority == priority {
		next.pods += old.pods
	}
	if next.pods > 0 {
		c.levels = c.levels.Insert(next)
	} else {
		c.levels, _ = c.levels.Delete(next)
	}
}

func (c *Cluster) nominate(path string, f *validator, facts workload.Pod) {
	p := c.newPod(facts, int32(c.nodeNumber(facts.Node)), c.group(facts.Group))
	c.nominated = c.nominated.Set(p)
	n := c.nodes.At(int(p.node))
	c.rebuild(path, f, n.Facts, n.number, n.pods, insert(n.nominated, p, comparePods))
}

func (c *Cluster) withdraw(id string) {
	if p := c.pod(c.nominated, id); p != nil {
		c.nominated, _ = c.nominated.Delete(id)
		n := c.nodes.At(int(p.node))
		c.rebuild("", nil, n.Facts, n.number, n.pods, without(n.nominated, p))
	}
}
