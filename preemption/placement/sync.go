package placement

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/workload"
)

// Sync returns a snapshot of the state and the edits that lead to it. The snapshot equals the one that [NewSnapshot]
// makes, at the cost of what changed. If nothing changed there are no edits.
//
// Sync compares everything by value (times as instants), so no change is missed. It looks at each node, pod, group
// and budget once, and what changed costs as much as its edits. It is fastest if the state lists the nodes by name,
// and the pods in the same order as in the last Sync (before the first: by node and ID). Until the next Sync the
// snapshot keeps in memory the pods that edits replace.
//
// [Snapshot.With] with the edits, in their order, leads from s to the new snapshot. The order is: Remove, Withdraw,
// RemoveGroup and RemoveBudget of what is gone, RemoveGroup also of groups with another priority, disruption mode or
// parent and of all groups below such a group or below one that is gone; SetNode, SetGroup, SetBudget, SetClaim, Run and
// Nominate of what is new, changed or removed so; RemoveNode and RemoveClaim of what is gone; each by name or ID, but a
// parent is removed after the groups below it, and is set before them. If a snapshot between two edits would not be valid
// (a usage over [quota.MaxUsage], more than [MaxResources]), the edits remove everything and add the whole state.
//
// It fails as NewSnapshot does, with the same faults, and returns s and no edits.
//
// [quota.MaxUsage]: https://pkg.go.dev/github.com/cedesched/cede/quota#MaxUsage
func (s *Snapshot) Sync(st State) (*Snapshot, []Edit, error) {
	c, inside := s.inside(), state.State(st)
	var order []*state.Pod
	if s != nil {
		order = s.order
	}
	found, equal, inOrder := c.Compare(&inside, order)
	if found.Valid(c) {
		edits := syncEdits(&found)
		if len(edits) == 0 && inOrder {
			return s, nil, nil
		}
		if next, err := s.With(edits...); err == nil {
			next.order = next.inside().InOrder(st.Pods, equal)
			return next, edits, nil
		}
	}
	next, err := NewSnapshot(st) // the state is invalid, or a snapshot between two edits is
	if err != nil {
		return s, nil, err
	}
	next.order = next.inside().InOrder(st.Pods, make([]*state.Pod, len(st.Pods)))
	gone, _, _ := c.Compare(new(state.State), nil)
	come, _, _ := empty.Compare(&inside, nil)
	return next, append(syncEdits(&gone), syncEdits(&come)...), nil
}

// syncEdits returns the edits for a difference.
func syncEdits(d *state.Difference) []Edit {
	var edits []Edit
	var pods state.Pods
	add := func(list []Edit) {
		slices.SortFunc(list, func(a, b Edit) int { return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name)) })
		edits = append(edits, list...)
	}
	add(each(d.Pods.Gone, func(p *workload.Pod) Edit { return Remove(p.ID) }))
	add(each(d.Nominated.Gone, func(p *workload.Pod) Edit { return Withdraw(p.ID) }))
	edits = append(edits, each(d.Groups.Gone, func(g *workload.PodGroup) Edit { return RemoveGroup(g.ID) })...)
	add(each(d.Budgets.Gone, func(b *workload.DisruptionBudget) Edit { return RemoveBudget(b.Namespace, b.Name) }))
	add(each(d.Nodes.Come, func(n *workload.Node) Edit { return SetNode(*n) }))
	edits = append(edits, each(d.Groups.Come, func(g *workload.PodGroup) Edit { return SetGroup(*g) })...)
	add(each(d.Budgets.Come, func(b *workload.DisruptionBudget) Edit { return SetBudget(*b) }))
	add(each(d.Claims.Come, func(k *workload.Claim) Edit { return SetClaim(*k) }))
	add(each(d.Pods.Come, func(p *workload.Pod) Edit { return run(pods.Copy(p)) }))
	add(each(d.Nominated.Come, func(p *workload.Pod) Edit { return nominate(pods.Copy(p)) }))
	add(each(d.Nodes.Gone, func(n *workload.Node) Edit { return RemoveNode(n.Name) }))
	add(each(d.Claims.Gone, func(k *workload.Claim) Edit { return RemoveClaim(k.ID) }))
	return edits
}

func each[F any](list []*F, edit func(*F) Edit) []Edit {
	edits := make([]Edit, len(list))
	for i := range list {
		edits[i] = edit(list[i])
	}
	return edits
}
