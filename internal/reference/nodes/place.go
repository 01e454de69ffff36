package nodes

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Domains lists the domains in which members are placed together, each with the nodes that it may use, in the order in
// which they are tried.
func (w *room) Domains() (list []placement.Domain) {
	list = slices.Clone(w.Request.Domains)
	if len(list) == 0 {
		list = []placement.Domain{{}}
		for _, n := range w.State.Nodes {
			list[0].Nodes = append(list[0].Nodes, n.Name)
		}
	}
	rank := func(name string) int {
		if i := slices.Index(w.Request.Prefer, name); i >= 0 {
			return i
		}
		return len(w.Request.Prefer)
	}
	for i := range list {
		names := slices.DeleteFunc(slices.Clone(list[i].Nodes), func(n string) bool { return w.nodes[n].Unschedulable })
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
		list[i].Nodes = names
	}
	if w.Request.DomainsPreferred && len(w.Request.Domains) > 0 {
		var all placement.Domain
		for _, d := range list {
			all.Nodes = append(all.Nodes, d.Nodes...)
		}
		list = append(list, all)
	}
	return list
}

// isLast reports whether a domain is all nodes together, which are used if no other domain has room.
func (w *room) isLast(d placement.Domain) bool { return w.Request.DomainsPreferred && d.Name == "" }

// DomainsOfVictims lists the domains of a preemption: for a single pod each node on which it may run.
func (w *room) DomainsOfVictims() (list []placement.Domain) {
	if w.Request.Group != "" {
		return w.Domains()
	}
	for _, node := range w.Domains()[0].Nodes {
		if w.mayBeOn(w.Members[0], node) {
			list = append(list, placement.Domain{Name: node, Nodes: []string{node}})
		}
	}
	return list
}

// Names reports whether a member may run on the node, as far as its own nodes go.
func Names(m workload.Pod, node string) bool {
	return !m.Nowhere && (len(m.Nodes) == 0 || slices.Contains(m.Nodes, node))
}

// mayBeOn reports whether a member may run on a node, whatever else is there.
func (w *room) mayBeOn(m workload.Pod, node string) bool {
	m.Node = node
	refuses := func(f placement.Filter) bool { return !f.Feasible(m, *w.nodes[node]) }
	return Names(m, node) && !slices.ContainsFunc(w.filters, refuses)
}

// mayRun reports whether a member may be placed on its node, beside the pods that are there and placed.
func (w *room) mayRun(m workload.Pod) bool {
	return w.hasRoom(m, 1) && w.claimsAreThere(m) && w.mayBeOn(m, m.Node) && !w.conflicts(m) && w.allows(m, w.placed)
}

// hasRoom reports whether what a member requests is free on its node, so many times: 0 for one that is placed.
func (w *room) hasRoom(m workload.Pod, times int64) bool {
	for resource, amount := range w.needsOn(m, times) {
		if w.free[m.Node][resource] < amount {
			return false
		}
	}
	return w.free[m.Node][workload.PodsResource] >= times
}

// stands reports whether the placed members keep their places, which they got in this order.
func (w *room) stands() bool {
	for i, m := range w.placed {
		if !w.hasRoom(m, 0) || !w.claimsAreThere(m) || !w.mayBeOn(m, m.Node) || w.conflicts(m) || !w.allows(m, w.placed[:i]) {
			return false
		}
	}
	return true
}

// conflicts reports whether a filter finds a conflict of a member on its node with another pod: a pod that is there, is
// placed, or is nominated ahead of it.
func (w *room) conflicts(m workload.Pod) bool {
	for _, f := range w.filters {
		conflict := func(o workload.Pod) bool {
			return o.ID != m.ID && (o.Node == m.Node || f.Reach() == placement.ReachCluster) && f.Conflict(m, o)
		}
		if slices.ContainsFunc(w.placed, conflict) ||
			slices.ContainsFunc(w.State.Pods, func(o workload.Pod) bool { return w.there[o.ID] && conflict(o) }) ||
			slices.ContainsFunc(w.State.Nominated, func(o workload.Pod) bool { return w.isAhead(o) && conflict(o) }) {
			return true
		}
	}
	return false
}

// HasTrials reports whether set filters or a placer are asked. Their answers need not be monotone.
func (w *room) HasTrials() bool { return len(w.sets) > 0 || w.Request.Placer != nil }

// allows asks the set filters and the placer about a member on its node, in trials that begin with exactly the pods that
// are there or placed; then also with the pods nominated to the node ahead of it.
func (w *room) allows(m workload.Pod, placed []workload.Pod) bool {
	if !w.HasTrials() {
		return true
	}
	asked := func(s *placement.Snapshot) bool {
		refuses := func(f placement.SetFilter) bool { return !f.Begin(s, w.Request).Allows(m, *w.nodes[m.Node]) }
		return s != nil && !slices.ContainsFunc(w.sets, refuses) &&
			(w.Request.Placer == nil || w.Request.Placer.Begin(s, w.Request).Allows(m, *w.nodes[m.Node]))
	}
	var ahead []workload.Pod
	for _, p := range w.State.Nominated {
		if p.Node == m.Node && w.isAhead(p) {
			ahead = append(ahead, p)
		}
	}
	return asked(w.snapshot(placed)) && (len(ahead) == 0 || asked(w.snapshot(placed, ahead...)))
}

// place places the members, one after the other, on nodes; the members in kept have their places already. It returns all that
// have a place, and leaves none placed.
func (w *room) place(nodes []string, kept []workload.Pod) []workload.Pod {
	defer w.unplace(0)
	w.put(kept...)
	waiting := slices.DeleteFunc(slices.Clone(w.Members), func(m workload.Pod) bool {
		return slices.ContainsFunc(kept, func(p workload.Pod) bool { return p.ID == m.ID })
	})
	if w.Request.Placer != nil {
		if s := w.snapshot(kept); s != nil {
			for i, name := range w.Request.Placer.Begin(s, w.Request).Place(waiting, nodes) {
				if i >= len(waiting) || !slices.Contains(nodes, name) {
					continue
				}
				if waiting[i].Node = name; w.mayRun(waiting[i]) {
					w.put(waiting[i])
				}
			}
		}
		return w.placed
	}
	if w.isTree() {
		if !w.placeGroup(w.Request.Group, nodes) {
			return nil
		}
		return w.placed
	}
	w.placeEach(waiting, nodes)
	return w.placed
}

// placeEach places members one after the other.
func (w *room) placeEach(members []workload.Pod, nodes []string) {
	next := 0
	for _, m := range members {
		best, least := -1, new(big.Int)
		for step := range nodes {
			i := step
			if w.Config.Order == placement.RoundRobin {
				i = (next + step) % len(nodes)
			}
			if m.Node = nodes[i]; !w.mayRun(m) {
				continue
			}
			if left := w.leftOver(m); best < 0 || left.Cmp(least) < 0 {
				best, least = i, left
			}
		}
		if best >= 0 {
			m.Node = nodes[best]
			w.put(m)
			next = best + 1
		}
	}
}

// leftOver is what the best fit makes small: the part of the capacity that is free after the pod, in units of 2^-32,
// summed over the resources that it requests. Zero in the other orders.
func (w *room) leftOver(m workload.Pod) *big.Int {
	sum := new(big.Int)
	for resource, amount := range m.Requests {
		if w.Config.Order == placement.BestFit && amount > 0 {
			part := big.NewInt(w.free[m.Node][resource] - amount)
			sum.Add(sum, part.Quo(part.Lsh(part, 32), big.NewInt(w.nodes[m.Node].Capacity[resource])))
		}
	}
	return sum
}

// promised lists the members that have a nomination, on the node of it.
func (w *room) promised() (list []workload.Pod) {
	for _, m := range w.Members {
		for _, p := range w.State.Nominated {
			if p.ID == m.ID {
				m.Node = p.Node
				list = append(list, m)
			}
		}
	}
	return list
}

// keep lists the members that may keep their nominations, one beside the other, of the members for which is holds.
func (w *room) keep(is func(workload.Pod) bool) []workload.Pod {
	defer w.unplace(0)
	for _, m := range w.promised() {
		if is(m) && w.mayRun(m) {
			w.put(m)
		}
	}
	return w.placed
}

// KeptFirst returns places in the order in which Room finds them: first the places of members that may keep their
// nominations.
func (w *room) KeptFirst(there func(workload.Pod) bool, placed []workload.Pod) []workload.Pod {
	w.only(there)
	defer w.only(Everyone)
	among := func(list []workload.Pod) func(workload.Pod) bool {
		return func(m workload.Pod) bool {
			return slices.ContainsFunc(list, func(o workload.Pod) bool { return o.ID == m.ID && o.Node == m.Node })
		}
	}
	kept := w.keep(among(placed))
	return slices.Concat(kept, slices.DeleteFunc(slices.Clone(placed), among(kept)))
}

// Room looks for places beside the running pods for which there holds: first with the nominations that members may keep
// and the others around them, then for all anew. The first domain with enough places is it.
func (w *room) Room(there func(workload.Pod) bool) (domain string, placed []workload.Pod, ok bool) {
	w.only(there)
	defer w.only(Everyone)
	for _, keeps := range []bool{true, false} {
		for _, d := range w.Domains() {
			var kept []workload.Pod
			if keeps {
				if kept = w.keep(func(m workload.Pod) bool { return slices.Contains(d.Nodes, m.Node) }); len(kept) == 0 {
					continue
				}
			}
			if placed = w.place(d.Nodes, kept); len(placed) >= w.need() {
				return d.Name, placed, true
			}
		}
	}
	return "", nil, false
}

// Stand reports whether places that are given in this order hold beside the running pods for which there holds.
func (w *room) Stand(there func(workload.Pod) bool, placed []workload.Pod) bool {
	w.only(there)
	defer w.only(Everyone)
	defer w.unplace(0)
	w.put(placed...)
	return w.stands()
}
