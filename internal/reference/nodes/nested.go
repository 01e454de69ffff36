package nodes

import (
	"slices"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// isTree reports whether groups of the request have needs of their own.
func (w *room) isTree() bool { return w.Request.MinGroups > 0 || len(w.Request.Nested) > 0 }

// needsOf returns what a group of the request needs.
func (w *room) needsOf(group string) placement.NestedGroup {
	if group == w.Request.Group {
		return placement.NestedGroup{Group: group, MinCount: w.Request.MinCount, MinGroups: w.Request.MinGroups}
	}
	for _, s := range w.Request.Nested {
		if s.Group == group {
			return s
		}
	}
	return placement.NestedGroup{Group: group}
}

// isUnder reports whether a member is in a group or below it.
func (w *room) isUnder(m workload.Pod, group string) bool {
	return m.Group == group || slices.ContainsFunc(w.around(m), func(g workload.PodGroup) bool { return g.ID == group })
}

// directlyBelow lists the groups directly below a group that have members, in the order of their first ones.
func (w *room) directlyBelow(group string) (list []string) {
	for _, m := range w.Members {
		for _, g := range w.around(m) {
			if g.Parent == group && !slices.Contains(list, g.ID) {
				list = append(list, g.ID)
			}
		}
	}
	return list
}

// need is the number of members that must have a place.
func (w *room) need() int {
	if w.isTree() {
		return w.needOf(w.Request.Group)
	}
	return max(1, w.Request.MinCount)
}

func (w *room) needOf(group string) int {
	var below []int
	for _, g := range w.directlyBelow(group) {
		below = append(below, w.needOf(g))
	}
	slices.Sort(below)
	sum := 0
	for _, n := range below[:w.needsOf(group).MinGroups] {
		sum += n
	}
	return max(1, w.needsOf(group).MinCount, sum)
}

// under lists the placed members that are in a group or below it.
func (w *room) under(group string, placed []workload.Pod) (list []workload.Pod) {
	for _, m := range placed {
		if w.isUnder(m, group) {
			list = append(list, m)
		}
	}
	return list
}

// placeGroup places a group without regard to its own domains, and reports whether it has what it needs. If not, no more
// members have a place than before. Members may have kept their places: on other nodes than these, or in a group that
// does not get what it needs, they make it fail.
func (w *room) placeGroup(group string, nodes []string) bool {
	before := len(w.placed)
	if slices.ContainsFunc(w.under(group, w.placed), func(m workload.Pod) bool { return !slices.Contains(nodes, m.Node) }) {
		return false
	}
	var own []workload.Pod
	for _, m := range w.Members {
		there := slices.ContainsFunc(w.placed, func(p workload.Pod) bool { return p.ID == m.ID })
		if m.Group == group && !there {
			own = append(own, m)
		}
	}
	w.placeEach(own, nodes)
	groups := 0
	for _, g := range w.directlyBelow(group) {
		choices := w.choices(g, nodes)
		if slices.ContainsFunc(choices, func(nodes []string) bool { return w.placeGroup(g, nodes) }) {
			groups++
		} else if len(w.under(g, w.placed)) > 0 {
			w.unplace(before)
			return false
		}
	}
	if needs := w.needsOf(group); groups < needs.MinGroups || len(w.under(group, w.placed)) < max(1, needs.MinCount) {
		w.unplace(before)
		return false
	}
	return true
}

// choices lists the sets of nodes on which a group may be, of the nodes of the group above it.
func (w *room) choices(group string, nodes []string) (list [][]string) {
	needs := w.needsOf(group)
	if len(needs.Domains) == 0 {
		return [][]string{nodes}
	}
	all := placement.Domain{}
	for _, d := range needs.Domains {
		all.Nodes = append(all.Nodes, d.Nodes...)
	}
	domains := slices.Clone(needs.Domains)
	if needs.DomainsPreferred {
		domains = append(domains, all)
	}
	for _, d := range domains {
		list = append(list, slices.DeleteFunc(slices.Clone(nodes), func(n string) bool { return !slices.Contains(d.Nodes, n) }))
	}
	return list
}

// Lacking lists the groups of the request that do not have what they need, though members of them are placed.
func (w *room) Lacking(placed []workload.Pod, nodes []string) (list []string) {
	if !w.isTree() || len(placed) == 0 {
		return nil
	}
	w.lacking(w.Request.Group, placed, nodes, &list)
	return list
}

// lacking reports whether a group has what it needs on one of the sets of nodes.
func (w *room) lacking(group string, placed []workload.Pod, nodes []string, list *[]string) bool {
	needs, groups := w.needsOf(group), 0
	here := w.under(group, placed)
	choices := [][]string{nodes}
	if group != w.Request.Group {
		choices = w.choices(group, nodes)
	}
	inside := func(nodes []string) bool {
		return !slices.ContainsFunc(here, func(m workload.Pod) bool { return !slices.Contains(nodes, m.Node) })
	}
	at := slices.IndexFunc(choices, inside)
	for _, g := range w.directlyBelow(group) {
		if at >= 0 && len(w.under(g, placed)) > 0 && w.lacking(g, placed, choices[at], list) {
			groups++
		}
	}
	has := at >= 0 && groups >= needs.MinGroups && len(here) >= max(1, needs.MinCount)
	if !has {
		*list = append(*list, group)
	}
	return has
}
