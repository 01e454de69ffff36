package nodes

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/workload"
)

// groupMembers is a group whose members are being collected.
type groupMembers struct {
	group
	list []memberPod
}

// memberPod is a member of a group, with what its order asks first.
type memberPod struct {
	uid uint64 // the first bytes
	pod *Pod
}

// groupOf returns the group of a pod; nil if it is neither in the state nor named by a running pod
// before.
func (b *builder) groupOf(p *Pod) *group {
	if p.Facts.Group == "" {
		return nil
	}
	if g := b.groups[p.Facts.Group]; g != nil {
		p.Facts.Group = g.Facts.ID // one string for all: equal addresses are compared faster than bytes
		return &g.group
	}
	return nil
}

// findSurplus finds where the surplus of groups with a minimum begins.
func (b *builder) findSurplus() {
	running := map[*groupMembers][]string{}
	for _, g := range b.groups {
		if g.isElastic() {
			running[g] = nil
		}
	}
	for i := range b.st.Pods {
		if len(running) == 0 {
			return
		}
		p := &b.st.Pods[i]
		if g := b.groups[p.Group]; g != nil && g.isElastic() && !p.Terminating {
			running[g] = append(running[g], p.ID)
		}
	}
	for g, ids := range running {
		slices.Sort(ids)
		g.findLast(len(ids), func(i int) string { return ids[i] })
	}
}

// join adds a running pod to its group, and to the covered units.
func (b *builder) join(p *Pod) {
	if p.single != nil {
		b.cover(p.single)
	}
	id := p.Facts.Group
	if id == "" {
		return
	}
	g := b.groups[id]
	if g == nil {
		g = &groupMembers{group: group{Facts: workload.PodGroup{ID: id}}}
		b.groups[id] = g
	}
	g.list = append(g.list, memberPod{firstBytes(p.Facts.UID), p})
}

// finish makes a group of its members.
func (b *builder) finish(of *groupMembers) *group {
	slices.SortFunc(of.list, func(a, b memberPod) int {
		if a.uid != b.uid {
			return cmp.Compare(a.uid, b.uid)
		}
		return compareUIDs(a.pod, b.pod)
	})
	members := make([]*Pod, 0, len(of.list))
	for _, m := range of.list {
		members = append(members, m.pod)
	}
	g := newGroup(of.Facts, of.known, members)
	for i, u := range [...]*Unit{g.whole, g.staying} {
		if u != nil && (i == 0 || u != g.whole) {
			b.cover(u)
		}
	}
	return g
}
