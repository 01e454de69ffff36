package kubernetes

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/workload"
)

// group is a PodGroup or a CompositePodGroup.
type group struct {
	*GroupSpec
	id, object string // in the state; the kind and the name of the object
	parent     string // the ID of the group above it; empty: a root
	composite  bool
	gang       bool
	least      int // how many pods, or groups directly below, a gang needs
	mode       workload.DisruptionMode
	path       string // of the mode
	unknown    error  // what is wrong with the mode
}

// compositeID is the ID of a composite group. It is no ID of a PodGroup, which has one slash.
func compositeID(namespace, name string) string {
	if name == "" {
		return ""
	}
	return "composite/" + namespace + "/" + name
}

func (g *PodGroup) group() *group {
	out := &group{GroupSpec: &g.Spec.GroupSpec, id: g.Metadata.ID(), object: g.key(), parent: compositeID(g.Metadata.Namespace, g.Spec.Parent)}
	if gang := g.Spec.SchedulingPolicy.Gang; gang != nil {
		out.gang, out.least = true, max(0, gang.MinCount)
	}
	out.mode, out.path, out.unknown = g.mode()
	return out
}

func (g *CompositePodGroup) group() *group {
	out := &group{GroupSpec: &g.Spec.GroupSpec, id: compositeID(g.Metadata.Namespace, g.Metadata.Name), object: g.key(),
		parent: compositeID(g.Metadata.Namespace, g.Spec.Parent), composite: true, path: "spec.disruptionMode"}
	if gang := g.Spec.SchedulingPolicy.Gang; gang != nil {
		out.gang, out.least = true, max(0, gang.MinGroupCount)
	}
	out.mode, out.unknown = g.Spec.DisruptionMode.of(out.path)
	return out
}

// keepGroup keeps a group, so that others find it.
func (c *context) keepGroup(g *group) {
	c.doubtUnread(g.object, "")
	c.groups[g.id] = g
}

// addGroup adds a group. A field that cannot be read gets the value that disturbs the group
// least.
func (c *context) addGroup(g *group) {
	out := workload.PodGroup{ID: g.id, Parent: g.parent, Basic: !g.gang && !g.composite, DisruptionMode: g.mode}
	if !g.composite {
		out.MinCount = g.least
	}
	var err error
	if out.Priority, _, err = c.priority(g.Priority, g.PriorityClassName, g.PreemptionPolicy); err != nil {
		c.warn(g.object, "spec.priorityClassName", "%v: it is never preempted here", err)
		c.doubtGroup(g, fmt.Sprintf("the priority of %s is not known: %v", g.object, err))
		out.Priority = math.MaxInt32
	}
	if g.unknown != nil {
		c.warn(g.object, g.path, "%v: it is not split here", g.unknown)
		c.doubtGroup(g, fmt.Sprintf("the disruption mode of %s is not known: %v", g.object, g.unknown))
	}
	if _, unread := c.unread[g.object]; unread {
		out = workload.PodGroup{ID: g.id, Priority: math.MaxInt32, DisruptionMode: workload.DisruptionModePodGroup}
	}
	if _, why := c.above(g.id); why != "" {
		if !g.composite {
			c.warn(g.object, "spec.parentCompositePodGroupName", "%s: it is never preempted here", why)
			c.doubtGroup(g, g.object+": "+why)
		}
		out = workload.PodGroup{ID: g.id, Priority: math.MaxInt32, DisruptionMode: workload.DisruptionModePodGroup}
	}
	c.out.State.Groups = append(c.out.State.Groups, out)
}

// addMissingGroups adds the groups of running pods that are not in the input. Nothing is known of
// them, so their pods are not disturbed.
func (c *context) addMissingGroups() {
	missing := map[string]bool{}
	for _, p := range c.pods {
		if p.Spec.NodeName == "" || p.isDone() || !c.known[p.Spec.NodeName] {
			continue
		}
		if id := p.group(); id != "" && c.groups[id] == nil {
			missing[id] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(missing)) {
		c.warn("PodGroup "+id, "", "is not in the input, and pods of it run: it is never preempted here")
		c.doubtGroup(&group{id: id, object: "PodGroup " + id}, "PodGroup "+id+" is not in the input, and pods of it run")
		c.out.State.Groups = append(c.out.State.Groups, workload.PodGroup{ID: id, Priority: math.MaxInt32, DisruptionMode: workload.DisruptionModePodGroup})
	}
}

// doubtGroup doubts each node on which a pod of the group, or of a group below it, runs.
func (c *context) doubtGroup(g *group, text string) {
	nodes := map[string]bool{}
	for _, p := range c.pods {
		if p.Spec.NodeName != "" && !p.isDone() && (p.group() == g.id || c.isBelow(p.group(), g)) {
			nodes[p.Spec.NodeName] = true
		}
	}
	for _, node := range slices.Sorted(maps.Keys(nodes)) {
		c.doubt(bridge.Doubt{Node: node}, g.object, "%s", text)
	}
}

func (p *Pod) group() string {
	if p.Spec.SchedulingGroup.PodGroupName == "" {
		return ""
	}
	return p.Metadata.Namespace + "/" + p.Spec.SchedulingGroup.PodGroupName
}
