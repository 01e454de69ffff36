package room

import (
	"github.com/cedesched/cede/internal/engine/nodes/state"
)

// claims counts, by node, the pods that hold each claim in a placement. A claim takes its amounts as long as it has one. They
// are in no row: whether they are free depends on who is gone. Sums without them refuse less, and nothing wrongly.
type claims struct {
	known []claimed        // that were met, by number
	index map[string]int32 // by ID
	holds [][]holding      // by node; counted with what is free there
}

// claimed is what a claim takes, by slot.
type claimed struct {
	id    string
	slots []int32
	takes []int64
}

// holding is how many pods hold a claim on a node.
type holding struct{ claim, pods int32 }

func (r *Room) beginClaims() {
	if !r.Cluster.HasClaims() {
		return
	}
	r.claims = claims{index: map[string]int32{}, holds: make([][]holding, len(r.Nodes))}
}

// ClaimNumber returns the number of a claim in the search.
func (r *Room) ClaimNumber(id string) int32 {
	if n, ok := r.claims.index[id]; ok {
		return n
	}
	n := int32(len(r.claims.known))
	of := claimed{id: id}
	for _, a := range r.Cluster.Claim(id).Takes {
		if slot := r.SlotOf(a); slot >= 0 {
			of.slots, of.takes = append(of.slots, int32(slot)), append(of.takes, a.Value)
		}
	}
	r.claims.index[id], r.claims.known = n, append(r.claims.known, of)
	return n
}

// Takes calls visit with what a claim takes.
func (r *Room) Takes(claim int32, visit func(slot int, amount int64)) {
	of := &r.claims.known[claim]
	for k, slot := range of.slots {
		visit(int(slot), of.takes[k])
	}
}

// IsHeld reports whether a pod holds a claim on a node of which it is counted what is free.
func (r *Room) IsHeld(i int, claim int32) bool {
	for _, h := range r.claims.holds[i] {
		if h.claim == claim {
			return h.pods > 0
		}
	}
	return false
}

// Hold adds one pod to the holders of a claim on a node, or with -1 takes one away. It reports whether it was the first, or
// the last.
func (r *Room) Hold(i int, claim, change int32) (changed bool) {
	list := r.claims.holds[i]
	for k := range list {
		if list[k].claim == claim {
			list[k].pods += change
			return change > 0 && list[k].pods == 1 || change < 0 && list[k].pods == 0
		}
	}
	r.claims.holds[i] = append(list, holding{claim, change})
	return true
}

// holdOn counts the holders of claims on a node in the placement, and takes what the claims take from what is free.
func (r *Room) holdOn(i int, free []int64) {
	r.claims.holds[i] = r.claims.holds[i][:0]
	n := r.Nodes[i]
	for _, p := range n.Pods {
		if len(p.Facts.Claims) > 0 && r.IsThere(p) {
			r.takeClaims(i, p, 1, free)
		}
	}
	for _, p := range n.Promised {
		if len(p.Facts.Claims) > 0 && r.IsAhead(p) {
			r.takeClaims(i, p, 1, free)
		}
	}
}

// takeClaims counts a pod on a node as a holder of its claims, or with -1 as gone.
func (r *Room) takeClaims(i int, p *state.Pod, change int32, free []int64) {
	for _, id := range p.Facts.Claims {
		r.TakeClaim(i, r.ClaimNumber(id), change, free)
	}
}

// TakeClaim is [Room.Hold] that also changes what is free.
func (r *Room) TakeClaim(i int, claim, change int32, free []int64) {
	if r.Hold(i, claim, change) {
		r.Takes(claim, func(slot int, amount int64) { free[slot] -= int64(change) * amount })
	}
}
