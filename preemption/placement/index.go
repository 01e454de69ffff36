package placement

import (
	"maps"
	"slices"
)

// addColumns numbers resources that are new.
func (c *cluster) addColumns(path string, f *validator, r Resources) {
	names := c.columns.names
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

// rebuild puts a node in place with other pods.
func (c *cluster) rebuild(path string, f *validator, facts Node, number int32, pods, nominated []*pod) {
	n, ok := newNode(c.columns, facts, number, pods, nominated)
	if !ok && f != nil {
		f.Add(path, "more than 2^62 of a resource is used of node %q", facts.Name)
	}
	c.nodes = c.nodes.Set(int(number), n)
}

// insert returns a copy of a sorted list with the pod.
func insert(list []*pod, p *pod, compare func(a, b *pod) int) []*pod {
	at, _ := slices.BinarySearchFunc(list, p, compare)
	return slices.Concat(list[:at], []*pod{p}, list[at:])
}

// without returns a copy of a list without the pod.
func without(list []*pod, p *pod) []*pod {
	at := slices.Index(list, p)
	return slices.Concat(list[:at], list[at+1:])
}

func (c *cluster) attach(path string, f *validator, facts Pod) {
	p := c.newPod(facts, c.group(facts.Group))
	c.pods = c.pods.Set(p)
	n := c.nodes.At(int(p.node))
	c.rebuild(path, f, n.facts, n.number, insert(n.pods, p, comparePods), n.nominated)
	c.count(p.priority, 1)
	c.regroup(p, func(members []*pod) []*pod { return insert(members, p, compareUIDs) })
}

func (c *cluster) detach(p *pod) {
	c.pods, _ = c.pods.Delete(p.facts.ID)
	n := c.nodes.At(int(p.node))
	c.rebuild("", nil, n.facts, n.number, without(n.pods, p), n.nominated)
	c.count(p.priority, -1)
	c.regroup(p, func(members []*pod) []*pod { return without(members, p) })
}

// regroup takes a pod into its group or out of it, and keeps the covered units.
func (c *cluster) regroup(p *pod, change func(members []*pod) []*pod) {
	if p.single != nil {
		_, there := c.pods.Get(p.facts.ID)
		c.cover(p.single, !p.facts.Terminating, there)
	}
	if p.facts.Group == "" {
		return
	}
	g := c.group(p.facts.Group)
	if g == nil {
		g = newGroup(Group{ID: p.facts.Group}, false, nil)
	}
	c.replaceGroup(g, newGroup(g.facts, g.known, change(g.members)))
}

func (c *cluster) replaceGroup(old, next *group) {
	c.coverGroup(old, false)
	c.coverGroup(next, true)
	if next.known || len(next.members) > 0 {
		c.groups = c.groups.Set(next)
	} else {
		c.groups, _ = c.groups.Delete(next.facts.ID)
	}
}

func (c *cluster) coverGroup(g *group, there bool) {
	if g.whole != nil && g.whole.covered {
		c.cover(g.whole, g.whole == g.staying, there)
	}
	if g.staying != nil && g.staying != g.whole && g.staying.covered {
		if there {
			c.coveredStaying = c.coveredStaying.Insert(g.staying)
		} else {
			c.coveredStaying, _ = c.coveredStaying.Delete(g.staying)
		}
	}
}

// cover keeps the indexes of covered units.
func (c *cluster) cover(u *unit, staying, there bool) {
	switch {
	case !u.covered:
		return
	case there:
		c.covered = c.covered.Insert(u)
	default:
		c.covered, _ = c.covered.Delete(u)
	}
	switch {
	case staying && there:
		c.coveredStaying = c.coveredStaying.Insert(u)
	case staying:
		c.coveredStaying, _ = c.coveredStaying.Delete(u)
	}
}

func (c *cluster) count(priority int32, change int) {
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

func (c *cluster) nominate(path string, f *validator, facts Pod) {
	p := c.newPod(facts, c.group(facts.Group))
	c.nominated = c.nominated.Set(p)
	n := c.nodes.At(int(p.node))
	c.rebuild(path, f, n.facts, n.number, n.pods, insert(n.nominated, p, comparePods))
}

func (c *cluster) withdraw(id string) {
	if p := c.pod(c.nominated, id); p != nil {
		c.nominated, _ = c.nominated.Delete(id)
		n := c.nodes.At(int(p.node))
		c.rebuild("", nil, n.facts, n.number, n.pods, without(n.nominated, p))
	}
}
