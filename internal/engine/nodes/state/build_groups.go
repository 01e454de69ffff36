package state

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/workload"
)

// groups collects the members of groups, by ID.
type groups map[string]*groupMembers

// groupMembers is a group with the members that are known so far.
type groupMembers struct {
	Group
	list, below []memberPod // below: of groups below it, if they yield with it
}

// memberPod is a member of a group, with what its order asks first.
type memberPod struct {
	uid uint64 // the first bytes
	pod *Pod
}

// of returns the group of a pod; nil: it is neither in the state nor named by a running pod that has joined.
func (all groups) of(p *Pod) *Group {
	if p.Facts.Group == "" {
		return nil
	}
	if g := all[p.Facts.Group]; g != nil {
		p.Facts.Group = g.Facts.ID // one string for all: equal addresses are compared faster than bytes
		return &g.Group
	}
	return nil
}

// join adds a running pod to its group.
func (all groups) join(p *Pod) {
	id := p.Facts.Group
	if id == "" {
		return
	}
	g := all[id]
	if g == nil {
		g = &groupMembers{Group: Group{Facts: workload.PodGroup{ID: id}}}
		all[id] = g
	}
	member := memberPod{firstBytes(p.Facts.UID), p}
	g.list = append(g.list, member)
	if g.unit != "" && g.unit != id {
		above := all[g.unit]
		above.below = append(above.below, member)
	}
}

// finish makes a group of its members.
func (m *groupMembers) finish() *Group { return m.with(sortedMembers(m.list), sortedMembers(m.below)) }

func sortedMembers(list []memberPod) []*Pod {
	slices.SortFunc(list, func(a, b memberPod) int {
		if a.uid != b.uid {
			return cmp.Compare(a.uid, b.uid)
		}
		return compareUIDs(a.pod, b.pod)
	})
	pods := make([]*Pod, 0, len(list))
	for _, member := range list {
		pods = append(pods, member.pod)
	}
	return pods
}
