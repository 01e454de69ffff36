package queue

import "slices"

// ResourceGroup is a set of resources that get their flavor together, and the flavors to try,
// in order.
type ResourceGroup struct {
	Resources []string
	Flavors   []string
}

// ResourceGroups returns the groups that the quotas form: an entry puts its flavor and its
// resource in one group. Groups, flavors and resources are in the order in which they first
// appear in Quotas. No flavor and no resource is in two groups.
func (q *Queue) ResourceGroups() []ResourceGroup {
	// Each entry is joined with the first entry of the same flavor and of the same resource.
	// The result is a forest: each tree is a group, and its root is the group's first entry.
	above := make([]int, len(q.Quotas))
	root := func(i int) int {
		for above[i] != i {
			above[i] = above[above[i]]
			i = above[i]
		}
		return i
	}
	byFlavor, byResource := make(map[string]int), make(map[string]int)
	for i, e := range q.Quotas {
		above[i] = i
		for _, first := range [...]struct {
			at   map[string]int
			name string
		}{{byFlavor, e.Flavor}, {byResource, e.Resource}} {
			if j, known := first.at[first.name]; known {
				a, b := root(i), root(j)
				above[max(a, b)] = min(a, b)
			} else {
				first.at[first.name] = i
			}
		}
	}
	var groups []ResourceGroup
	groupOf := make(map[int]int)
	for i, e := range q.Quotas {
		g, known := groupOf[root(i)]
		if !known {
			g = len(groups)
			groupOf[root(i)] = g
			groups = append(groups, ResourceGroup{})
		}
		if byResource[e.Resource] == i {
			groups[g].Resources = append(groups[g].Resources, e.Resource)
		}
		if byFlavor[e.Flavor] == i {
			groups[g].Flavors = append(groups[g].Flavors, e.Flavor)
		}
	}
	return slices.Clip(groups)
}
