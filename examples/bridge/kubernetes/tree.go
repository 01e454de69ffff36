package kubernetes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// maxDepth is how many groups kube-scheduler v1.37 climbs, from a PodGroup to its root.
const maxDepth = 4

// above returns a group and the groups above it, it first. The text says why the root is not known.
func (c *context) above(id string) (chain []*group, why string) {
	for id != "" {
		g := c.groups[id]
		if g == nil {
			return chain, "CompositePodGroup " + strings.TrimPrefix(id, "composite/") + " above it is not in the input"
		}
		if u, unread := c.unread[g.object]; unread && len(chain) > 0 {
			return chain, fmt.Sprintf("%s above it cannot be read: %v", g.object, u.why)
		}
		if len(chain) == maxDepth {
			return chain, "the groups above it are too many, or go in a circle"
		}
		chain, id = append(chain, g), g.parent
	}
	return chain, ""
}

// object returns the kind and the name of the object of a group; empty: it is not in the input.
func (c *context) object(id string) string {
	if g := c.groups[id]; g != nil {
		return g.object
	}
	return ""
}

// root returns the ID of the group of which the pods wait together: the root, or the group itself if that is not known.
func (c *context) root(id string) string {
	if chain, why := c.above(id); c.groups[id] != nil && why == "" {
		return chain[len(chain)-1].id
	}
	return id
}

// isBelow reports whether a PodGroup is, at any depth, below another group.
func (c *context) isBelow(id string, g *group) bool {
	chain, _ := c.above(id)
	return len(chain) > 0 && slices.Contains(chain[1:], g)
}

// groupsOf returns the groups that a request is about, from the PodGroups of its pods up.
func (c *context) groupsOf(p *Pending) (list []*group) {
	seen := map[string]bool{}
	add := func(id string) {
		chain, _ := c.above(id)
		for _, g := range chain {
			if !seen[g.id] {
				seen[g.id] = true
				list = append(list, g)
			}
		}
	}
	if p.Request.Group != "" && c.groups[p.Request.Group] != nil {
		add(p.Request.Group)
	}
	for i := range p.Request.Pods {
		if id := p.Request.Pods[i].Group; id != "" && c.groups[id] != nil {
			add(id)
		}
	}
	return list
}

// needs says what a group that waits, and the groups below it, need. It returns the pods to ask for: those of a group that
// needs more than waits are left out.
func (c *context) needs(out *Pending, root *group, pods []*Pod) ([]*Pod, error) {
	members, below := map[*group]int{}, map[*group][]*group{} // what waits: pods of a PodGroup, groups directly below another
	for _, p := range pods {
		chain, _ := c.above(p.group())
		for i, g := range chain {
			if i == 0 {
				members[g]++
			} else if !slices.Contains(below[g], chain[i-1]) {
				below[g] = append(below[g], chain[i-1])
			}
		}
	}
	r, short := &out.Request, map[*group]bool{}
	var visit func(g *group) error
	visit = func(g *group) error {
		slices.SortFunc(below[g], func(a, b *group) int { return strings.Compare(a.id, b.id) })
		n := placement.NestedGroup{Group: g.id, Domains: c.domains(out, g)}
		at := len(r.Nested)
		r.Nested = append(r.Nested, n)
		defer func() { r.Nested[at] = n }()
		if !g.composite {
			if n.MinCount = c.stillNeeded(out, g, nil); n.MinCount > members[g] {
				return fmt.Errorf("its gang needs %d more pods, but %d wait", n.MinCount, members[g])
			}
		} else {
			for _, child := range slices.Clone(below[g]) {
				if err := visit(child); err != nil {
					out.note(child.object, "spec.schedulingPolicy", "pods of %s are left out: %v", child.object, err)
					short[child], below[g] = true, slices.DeleteFunc(below[g], func(o *group) bool { return o == child })
				}
			}
			if n.MinGroups = c.stillNeeded(out, g, below[g]); n.MinGroups > len(below[g]) {
				return fmt.Errorf("its gang needs %d more groups, but %d wait", n.MinGroups, len(below[g]))
			}
		}
		return nil
	}
	err := visit(root)
	of := r.Nested[0]
	r.MinCount, r.MinGroups, r.Domains, r.Nested = of.MinCount, of.MinGroups, of.Domains, r.Nested[1:]
	isShort := func(id string) bool {
		chain, _ := c.above(id)
		return slices.ContainsFunc(chain, func(g *group) bool { return short[g] })
	}
	r.Nested = slices.DeleteFunc(r.Nested, func(n placement.NestedGroup) bool { return isShort(n.Group) })
	return slices.DeleteFunc(pods, func(p *Pod) bool { return isShort(p.group()) }), err
}

// stillNeeded returns how many pods, or groups directly below, a gang needs beside what runs.
func (c *context) stillNeeded(out *Pending, g *group, waiting []*group) int {
	if !g.gang {
		return 0
	}
	if !g.composite {
		return max(0, g.least-c.running[g.id])
	}
	done := 0
	for _, below := range c.groups {
		if below.parent == g.id && c.hasEnough(below, maxDepth) && !slices.Contains(waiting, below) {
			done++
		}
	}
	for _, below := range waiting {
		if c.hasEnough(below, maxDepth) {
			c.unsupported(out, below.object, "", "%s has what it needs, and more pods of it wait: %s may need fewer groups than is counted", below.object, g.object)
		}
	}
	return max(0, g.least-done)
}

// hasEnough reports whether what runs is all that a group needs.
func (c *context) hasEnough(g *group, depth int) bool {
	if !g.composite {
		return c.running[g.id] >= max(1, g.least)
	}
	done := 0
	for _, below := range c.groups {
		if below.parent == g.id && depth > 1 && c.hasEnough(below, depth-1) {
			done++
		}
	}
	return done >= max(1, g.least)
}

// domains returns the sets of nodes in one of which a group must be; nil: anywhere. If pods of it run, it is the set of theirs.
func (c *context) domains(out *Pending, g *group) []placement.Domain {
	const path = "spec.schedulingConstraints"
	switch {
	case len(g.Constraints.Topology) == 0:
		return nil
	case len(g.Constraints.Topology) > 1:
		c.unsupported(out, g.object, path, "%s has several topology constraints: they are not looked at", g.object)
		return nil
	case !g.gang && !g.composite && g.parent == "":
		c.unsupported(out, g.object, path, "the topology constraint of %s is not looked at: its pods are placed each by itself", g.object)
		return nil
	}
	key := g.Constraints.Topology[0].Key
	list := Domains(c.out.State.Nodes, key)
	where := map[string]bool{}
	for _, p := range c.pods {
		if p.Spec.NodeName != "" && !p.isDone() && (p.group() == g.id || c.isBelow(p.group(), g)) {
			where[p.Spec.NodeName] = true
		}
	}
	list = slices.DeleteFunc(list, func(d placement.Domain) bool {
		for node := range where {
			if !slices.Contains(d.Nodes, node) {
				return true
			}
		}
		return false
	})
	if len(list) == 0 {
		c.unsupported(out, g.object, path, "no nodes with one value of the label %s have all pods of %s that run", key, g.object)
		list = []placement.Domain{{Name: key}} // no node
	}
	return list
}

// Domains makes a domain of the nodes with the same value of a label, in the order of the values. Nodes without the label are in
// none.
func Domains(nodes []workload.Node, label string) (list []placement.Domain) {
	of := map[string][]string{}
	for _, n := range nodes {
		if value := n.Labels[label]; value != "" {
			of[value] = append(of[value], n.Name)
		}
	}
	for _, value := range slices.Sorted(maps.Keys(of)) {
		list = append(list, placement.Domain{Name: value, Nodes: of[value]})
	}
	return list
}
