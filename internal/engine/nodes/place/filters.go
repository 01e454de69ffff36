package place

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/workload"
)

// areFeasible asks the filters whether a member may run on a node, whatever else runs there.
func (b *Board) areFeasible(m *Member, n *state.Node) bool {
	for _, f := range b.Request.Rules.Filters {
		if !f.Rule.Feasible(*m.Facts, n.Facts) {
			return false
		}
	}
	return true
}

// FiltersPlace asks the filters whether a member may run on a node beside what is there.
func (b *Board) FiltersPlace(d room.Domain, m *Member, i int) bool {
	n := b.Nodes[i]
	if !b.areFeasible(m, n) {
		return false
	}
	pending := b.AsPlaced(m, i)
	running, promised := slices.Values(n.Pods), slices.Values(n.Promised)
	if b.isWide {
		running, promised = b.Cluster.Running.All, b.Cluster.Promised.All
	}
	for p := range running {
		if b.Stands(d, p) && b.Conflict(pending, p.Facts) {
			return false
		}
	}
	for p := range promised {
		if b.IsAhead(p) && b.Conflict(pending, p.Facts) {
			return false
		}
	}
	for k := range b.Members {
		other := &b.Members[k]
		if other == m {
			continue // Where still has an earlier try
		}
		if at := b.Where[k]; at >= 0 && (b.isWide || int(at) == i) && b.Conflict(pending, b.AsPlaced(other, int(at))) {
			return false
		}
	}
	return true
}

// AsPlaced returns the pod of a member as if it ran on a node.
func (b *Board) AsPlaced(m *Member, i int) workload.Pod {
	p := *m.Facts
	p.Node = b.Nodes[i].Facts.Name
	return p
}

// Conflict asks the filters whether two pods exclude each other where they are.
func (b *Board) Conflict(pod, other workload.Pod) bool {
	for _, f := range b.Request.Rules.Filters {
		if (pod.Node == other.Node || f.Wide) && f.Rule.Conflict(pod, other) {
			return true
		}
	}
	return false
}

// filtersAllow reports whether the placed members have no conflict with a unit that is put back.
func (b *Board) filtersAllow(d room.Domain, u *state.Unit) bool {
	if len(b.Request.Rules.Filters) == 0 {
		return true
	}
	for m, at := range b.Where {
		if at < 0 {
			continue
		}
		for _, p := range u.Pods {
			if (b.isWide || b.Of(p) == int(at)) && b.Conflict(b.AsPlaced(&b.Members[m], int(at)), p.Facts) {
				return false
			}
		}
	}
	return true
}
