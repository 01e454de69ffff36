package nodes

import (
	"slices"

	"github.com/cedesched/cede/workload"
)

// held is a claim on a node.
type held struct{ claim, node string }

// claim returns a claim of the state.
func (w *room) claim(id string) workload.Claim {
	i := slices.IndexFunc(w.State.Claims, func(c workload.Claim) bool { return c.ID == id })
	return w.State.Claims[i]
}

// hold adds a pod to the holders of its claims on its node, so many times. The first one takes what the claim takes, the last
// one frees it.
func (w *room) hold(p workload.Pod, times int) {
	for _, id := range p.Claims {
		at, sign := held{id, p.Node}, int64(0)
		before := w.holders[at]
		w.holders[at] += times
		switch after := w.holders[at]; {
		case before == 0 && after > 0:
			sign = -1
		case before > 0 && after == 0:
			sign = 1
		}
		for resource, amount := range w.claim(id).Requests {
			w.free[p.Node][resource] += sign * amount
		}
	}
}

// needsOn returns what a member needs of its node, 0 or 1 times: its own requests, and those of its claims that no pod
// there holds.
func (w *room) needsOn(m workload.Pod, times int64) workload.Resources {
	needs := workload.Resources{}
	for resource, amount := range m.Requests {
		if amount > 0 {
			needs[resource] += times * amount
		}
	}
	for _, id := range m.Claims {
		for resource, amount := range w.claim(id).Requests {
			if amount > 0 && w.holders[held{id, m.Node}] == 0 {
				needs[resource] += times * amount
			} else if amount > 0 {
				needs[resource] += 0 // it is asked for
			}
		}
	}
	return needs
}

// claimsAreThere reports whether the claims of a member may be on its node: where their pods are, if one of them is no
// member, and where the members are that are placed.
func (w *room) claimsAreThere(m workload.Pod) bool {
	for _, id := range m.Claims {
		var on []string
		others := false
		for _, list := range [][]workload.Pod{w.State.Pods, w.State.Nominated} {
			for _, p := range list {
				own := slices.ContainsFunc(w.Members, func(o workload.Pod) bool { return o.ID == p.ID })
				if slices.Contains(p.Claims, id) {
					on, others = append(on, p.Node), others || !own
				}
			}
		}
		if others && !slices.Contains(on, m.Node) {
			return false
		}
		for _, o := range w.placed {
			if slices.Contains(o.Claims, id) && o.Node != m.Node {
				return false
			}
		}
	}
	return true
}

// ownClaims returns what the claims of a single pod take that no pod of the state holds.
func (w *room) ownClaims(resource string) (sum int64) {
	if w.Request.Group != "" {
		return 0
	}
	for _, id := range w.Members[0].Claims {
		inUse := func(p workload.Pod) bool { return p.ID != w.Members[0].ID && slices.Contains(p.Claims, id) }
		if !slices.ContainsFunc(w.State.Pods, inUse) && !slices.ContainsFunc(w.State.Nominated, inUse) {
			sum += w.claim(id).Requests[resource]
		}
	}
	return sum
}

// takesOf reports whether a pod takes some of a resource, by itself or by a claim.
func (w *room) takesOf(p workload.Pod, resource string) bool {
	return takes(p, resource) > 0 ||
		slices.ContainsFunc(p.Claims, func(id string) bool { return w.claim(id).Requests[resource] > 0 })
}
