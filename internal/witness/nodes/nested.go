package nodes

import (
	"slices"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Request.Nested and Request.MinGroups: groups of groups, as built in Kubernetes v1.37.

// nests: "With Nested or MinGroups the pods of a group are placed before those of the groups below it."
func nests(w *World) bool { return len(w.request.Nested) > 0 || w.request.MinGroups > 0 }

// need is what a group must get: "A group that is not listed needs one pod." "MinCount. Zero: one." The request says what its own
// group needs.
func need(w *World, group string) placement.NestedGroup {
	n := placement.NestedGroup{Group: group}
	if group == w.request.Group {
		n.MinCount, n.MinGroups = w.request.MinCount, w.request.MinGroups
	}
	for _, listed := range w.request.Nested {
		if listed.Group == group {
			n = listed
		}
	}
	n.MinCount = max(1, n.MinCount)
	return n
}

// placeGroup places a group "within one of them, on nodes that also belong to the domain of each group above it. The first one
// where it gets what it needs is taken, whatever runs there. Empty: as the group above it." "If it does not get that, none of its
// pods, nor of the groups below it, is placed."
func (s *scene) placeGroup(group string, above domain) bool {
	before := slices.Clone(s.placed)
	for _, d := range s.domainsOf(need(s.World, group), above) {
		if s.placeMembers(group, d) {
			return true
		}
		s.placed = slices.Clone(before)
	}
	s.placed = slices.DeleteFunc(s.placed, func(k seat) bool { return s.below(k.pod, group) })
	return false
}

// domainsOf lists the domains of a group. "DomainsPreferred says that the nodes of all Domains together are one more domain, the
// last."
func (s *scene) domainsOf(need placement.NestedGroup, above domain) (list []domain) {
	if len(need.Domains) == 0 {
		return []domain{above}
	}
	var union []string
	for _, d := range need.Domains {
		list = append(list, above.only(d.Nodes))
		union = append(union, d.Nodes...)
	}
	if need.DomainsPreferred {
		list = append(list, above.only(union))
	}
	return list
}

func (d domain) only(names []string) domain {
	d.nodes = slices.DeleteFunc(slices.Clone(d.nodes), func(n *node) bool { return !slices.Contains(names, n.Name) })
	return d
}

// placeMembers: "The pods of a group are placed before those of the groups below it, and these in the order of their first pods."
// It reports whether the group gets what it needs: "how many of its pods in the request, and of the pods of groups below it, must
// have room", and "how many of the groups directly below it must get what they need".
func (s *scene) placeMembers(group string, d domain) bool {
	if s.isOutside(group, d) {
		return false // its nominations are kept, and they are elsewhere
	}
	s.last = nil // each group begins its own round
	for _, p := range s.pods {
		if p.Group == group && !s.has(p) {
			s.seat(p, d)
		}
	}
	groups := 0
	for _, below := range s.groupsBelow(group) {
		groups += number(s.placeGroup(below, d))
	}
	return s.getsItsNeed(group, groups)
}

// getsItsNeed reports whether enough of a group is placed, with so many of the groups directly below it.
func (s *scene) getsItsNeed(group string, groups int) bool {
	need := need(s.World, group)
	return s.members(group) >= need.MinCount && groups >= need.MinGroups
}

// members is how many pods of a group and of the groups below it are placed.
func (s *scene) members(group string) (n int) {
	for _, k := range s.placed {
		n += number(s.below(k.pod, group))
	}
	return n
}

// isOutside reports whether a pod of a group is placed outside a domain.
func (s *scene) isOutside(group string, d domain) bool {
	return slices.ContainsFunc(s.placed, func(k seat) bool { return s.below(k.pod, group) && !d.has(k.node.Name) })
}

// below reports whether a pod is of a group or of one below it.
func (s *scene) below(p *pod, group string) bool {
	return slices.ContainsFunc(around(s.World, p.Group), func(g *workload.PodGroup) bool { return g.ID == group })
}

// groupsBelow lists the groups directly below one that have pods in the request, in the order of their first pods.
func (s *scene) groupsBelow(group string) (list []string) {
	for _, p := range s.pods {
		for _, g := range around(s.World, p.Group) {
			if g.Parent == group && !slices.Contains(list, g.ID) {
				list = append(list, g.ID)
			}
		}
	}
	return list
}
