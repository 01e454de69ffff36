package ask

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/state"
)

// Tree is a group of a request with the groups below it that have waiting pods.
type Tree struct {
	Need  NestedGroup // of the root: MinCount and MinGroups of the request
	Pods  []int32     // its own, in the order of the request
	Below []*Tree     // in the order of their first pods
}

// IsTree reports whether groups below that of the request have needs of their own.
func (r *Request) IsTree() bool { return r.MinGroups != 0 || len(r.Nested) > 0 }

// Tree returns the groups of the request. Pods of groups that are not below that of the request are left out.
func (r *Request) Tree(c *state.Cluster) *Tree {
	root := &Tree{Need: NestedGroup{Group: r.Group, MinCount: r.MinCount, MinGroups: r.MinGroups}}
	groups := map[string]*Tree{r.Group: root}
	var of func(id string) *Tree
	of = func(id string) *Tree {
		if t := groups[id]; t != nil {
			return t
		}
		g := c.KnownGroup(id)
		if g == nil || g.Facts.Parent == "" {
			return nil
		}
		above := of(g.Facts.Parent)
		if above == nil {
			return nil
		}
		t := &Tree{Need: NestedGroup{Group: id}}
		if i := slices.IndexFunc(r.Nested, func(s NestedGroup) bool { return s.Group == id }); i >= 0 {
			t.Need = r.Nested[i]
		}
		groups[id], above.Below = t, append(above.Below, t)
		return t
	}
	for i := range r.Pods {
		if t := of(r.GroupOf(&r.Pods[i])); t != nil {
			t.Pods = append(t.Pods, int32(i))
		}
	}
	return root
}

// CountPods counts the waiting pods of a group and of the groups below it.
func (t *Tree) CountPods() int {
	count := len(t.Pods)
	for _, b := range t.Below {
		count += b.CountPods()
	}
	return count
}

// AtLeast is the least number of pods that must have a place, so that the group has what it needs.
func (t *Tree) AtLeast() int {
	var below []int
	for _, b := range t.Below {
		below = append(below, b.AtLeast())
	}
	slices.Sort(below)
	sum := 0
	for _, n := range below[:min(t.Need.MinGroups, len(below))] {
		sum += n
	}
	return max(1, t.Need.MinCount, sum)
}
