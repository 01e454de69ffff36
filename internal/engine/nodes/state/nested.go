package state

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Groups are nested by their parents. The root decides priority and queue. The highest group of mode PodGroup on the
// way from a pod to the root is the unit that the pod yields with. (As built in Kubernetes v1.37.)

// MaxGroupDepth is how many groups are nested in each other at most: a pod group in three composite groups, as in
// Kubernetes v1.37.
const MaxGroupDepth = 4

// standing is what the groups around a pod decide, from its own group to the root.
type standing struct {
	depth    int    // 1: the group is a root
	unit     string // the group that the pod yields with; empty: it yields alone
	priority int32
	queue    string
	minimum  [2]quota.OptionalDuration // by kind, of the nearest group that sets it
	setBy    [2]string                 // that group
}

// newGroup makes a group without pods below its parent; nil: it has none.
func newGroup(facts workload.PodGroup, known bool, parent *Group) *Group {
	g := &Group{Facts: facts, Known: known, standing: standing{depth: 1, priority: facts.Priority, queue: facts.Queue}}
	if parent != nil {
		g.standing = parent.standing
		g.depth++
	}
	if known && g.unit == "" && facts.DisruptionMode == workload.DisruptionModePodGroup {
		g.unit = facts.ID
	}
	for kind, own := range [...]quota.OptionalDuration{facts.MinRuntime, facts.ReclaimMinRuntime} {
		if _, set := own.Get(); set {
			g.minimum[kind], g.setBy[kind] = own, facts.ID
		}
	}
	return g
}

// Priority is the priority that counts for its pods.
func (g *Group) Priority() int32 { return g.priority }

// Queue is the queue that counts for its pods.
func (g *Group) Queue() string { return g.queue }

// MinimumSetBy returns the nearest group that sets a minimum runtime of its pods.
func (g *Group) MinimumSetBy(kind int) string { return g.setBy[kind] }

// YieldsWith returns the group that the pods of a group yield with, on all nodes; nil: they yield alone.
func (c *Cluster) YieldsWith(id string) *Group {
	g := c.Group(id)
	if g == nil || g.unit == id {
		return g
	}
	return c.Group(g.unit) // nil for no name
}

// IsBelow reports whether a group is another one or is below it.
func (c *Cluster) IsBelow(id, other string) bool {
	for g := c.KnownGroup(id); g != nil; g = c.KnownGroup(g.Facts.Parent) {
		if g.Facts.ID == other {
			return true
		}
	}
	return false
}

// below lists a group and the groups below it, each after its parent.
func (c *Cluster) below(g *Group) []*Group {
	list := []*Group{g}
	for i := 0; i < len(list); i++ {
		for _, id := range list[i].children {
			list = append(list, c.Group(id))
		}
	}
	return list
}

// checkParent finds what is wrong with the parent of a group that is set.
func (e *Edit) checkParent(next *workload.PodGroup) {
	if next.Parent == "" || next.Parent == next.ID {
		return
	}
	path, parent := e.path+".parent", e.c.KnownGroup(next.Parent)
	if parent == nil {
		e.Add(path, "unknown group %q", next.Parent)
		return
	}
	if e.c.IsBelow(next.Parent, next.ID) {
		e.Add(path, "%q is below group %q", next.Parent, next.ID)
		return
	}
	depth := parent.depth + 1
	if g := e.c.KnownGroup(next.ID); g != nil {
		below := e.c.below(g)
		depth += below[len(below)-1].depth - g.depth
	}
	if depth > MaxGroupDepth {
		e.Add(path, "%d groups in each other, more than %d", depth, MaxGroupDepth)
	}
}

// setChild adds a group to the children of its parent, or removes it.
func (e *Edit) setChild(g *workload.PodGroup, is bool) {
	parent := e.c.KnownGroup(g.Parent)
	if parent == nil {
		return
	}
	at, found := slices.BinarySearch(parent.children, g.ID)
	if found == is {
		return
	}
	next := *parent
	if next.children = slices.Clone(parent.children); is {
		next.children = slices.Insert(next.children, at, g.ID)
	} else {
		next.children = slices.Delete(next.children, at, at+1)
	}
	e.c.groups = e.c.groups.Set(&next)
}

// compareGroups compares a list with the groups. Gone has also the groups that change in what is fixed, and all groups
// below one of Gone; those of them that are in the list come again. It has groups before their parents, and what comes
// has parents before the groups below them; else both are by ID.
func (c *Cluster) compareGroups(list []workload.PodGroup) Changes[workload.PodGroup] {
	var known []*workload.PodGroup
	nested := false
	for g := range c.groups.All {
		if g.Known {
			known, nested = append(known, &g.Facts), nested || g.depth > 1
		}
	}
	d := changes(known, list, func(g *workload.PodGroup) string { return g.ID },
		func(a, b *workload.PodGroup) bool { return *a == *b })
	for i, next := range d.Come {
		nested = nested || next.Parent != ""
		if old := d.Old[i]; old != nil && !FixedEqual(old, next) {
			d.Gone = append(d.Gone, old)
		}
	}
	byID := func(a, b *workload.PodGroup) int { return strings.Compare(a.ID, b.ID) }
	if slices.SortFunc(d.Gone, byID); !nested {
		slices.SortFunc(d.Come, byID)
		return d
	}
	listed, comes, gone := map[string]*workload.PodGroup{}, map[string]bool{}, map[string]bool{}
	for i := range list {
		listed[list[i].ID] = &list[i]
	}
	for _, g := range d.Come {
		comes[g.ID] = true
	}
	for _, g := range d.Gone {
		gone[g.ID] = true
	}
	for _, top := range slices.Clone(d.Gone) {
		for _, g := range c.below(c.Group(top.ID))[1:] {
			if id := g.Facts.ID; !gone[id] {
				d.Gone, gone[id] = append(d.Gone, &g.Facts), true
				if next := listed[id]; next != nil && !comes[id] {
					d.Old, d.Come = append(d.Old, &g.Facts), append(d.Come, next)
				}
			}
		}
	}
	slices.SortFunc(d.Gone, func(a, b *workload.PodGroup) int {
		return cmp.Or(cmp.Compare(c.Group(b.ID).depth, c.Group(a.ID).depth), byID(a, b))
	})
	depth := func(g *workload.PodGroup) (depth int) {
		for ; g != nil && depth <= MaxGroupDepth; g = listed[g.Parent] {
			depth++
		}
		return depth
	}
	slices.SortFunc(d.Come, func(a, b *workload.PodGroup) int { return cmp.Or(cmp.Compare(depth(a), depth(b)), byID(a, b)) })
	return d
}

// validateParents finds parents that are unknown, groups below themselves, and groups in too many groups.
func validateParents(f *fault.List, groups []workload.PodGroup) {
	if !slices.ContainsFunc(groups, func(g workload.PodGroup) bool { return g.Parent != "" }) {
		return
	}
	index := make(map[string]int, len(groups))
	for i := range groups {
		index[groups[i].ID] = i
	}
	for i := range groups {
		path, parent := fmt.Sprintf("groups[%d].parent", i), groups[i].Parent
		if parent == "" || parent == groups[i].ID { // that is said by its own check
			continue
		}
		if _, known := index[parent]; !known {
			f.Add(path, "unknown group %q", parent)
			continue
		}
		depth, at := 1, i
		for groups[at].Parent != "" && depth <= len(groups) {
			next, known := index[groups[at].Parent]
			if !known {
				break
			}
			if at = next; at == i {
				f.Add(path, "%q is below group %q", parent, groups[i].ID)
				break
			}
			depth++
		}
		if depth > MaxGroupDepth && depth <= len(groups) && at != i { // more: some group above is below itself
			f.Add(path, "%d groups in each other, more than %d", depth, MaxGroupDepth)
		}
	}
}

// nest gives the groups of a state their standing: parents first. The parents are valid.
func (b *builder) nest() {
	var settle func(m *groupMembers)
	settle = func(m *groupMembers) {
		if m.depth > 0 {
			return
		}
		var above *Group
		if parent := b.groups[m.Facts.Parent]; parent != nil {
			settle(parent)
			parent.children = append(parent.children, m.Facts.ID)
			above = &parent.Group
		}
		m.standing = newGroup(m.Facts, m.Known, above).standing
	}
	for _, g := range b.st.Groups {
		settle(b.groups[g.ID])
	}
	for _, g := range b.st.Groups {
		slices.Sort(b.groups[g.ID].children)
	}
}
