package place

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/quota"
)

// Devices are on one node: a member goes only where its claims are. A claim that a pod besides the members holds is where its
// pods run or are nominated; one that a placed member holds, where that member is.

// claimOf is a claim of a member.
type claimOf struct {
	number  int32
	isFixed bool
	nodes   []int32 // where its pods run or are nominated
}

// addClaims finds the claims of the members.
func (b *Board) addClaims() {
	for m := range b.Members {
		member := &b.Members[m]
		for _, id := range member.Facts.Claims {
			of := claimOf{number: b.ClaimNumber(id)}
			b.Cluster.Holders(id, func(p *state.Pod) {
				of.isFixed, of.nodes = of.isFixed || !b.IsMember(p.Facts.ID), append(of.nodes, int32(b.Of(p)))
			})
			member.claims = append(member.claims, of)
		}
	}
}

func (m *Member) holds(claim int32) bool {
	return slices.ContainsFunc(m.claims, func(c claimOf) bool { return c.number == claim })
}

// claimsFit reports whether the claims of a member may be on a node, and have room there beside what the member needs.
func (b *Board) claimsFit(m *Member, i int) bool {
	if len(m.claims) == 0 {
		return true
	}
	free, enough := b.FreeOn(i), true // on a node that holds too much already nothing is added
	b.needs = append(b.needs[:0], m.Needs...)
	for k := range m.claims {
		of := &m.claims[k]
		if of.isFixed && !slices.Contains(of.nodes, int32(i)) || b.isElsewhere(of.number, i) {
			return false
		}
		isHeld := b.IsHeld(i, of.number)
		b.Takes(of.number, func(slot int, amount int64) {
			if enough = enough && free[slot] >= 0; !isHeld {
				b.needs[slot] += amount
			}
		})
	}
	return enough && hasRoom(free, b.needs)
}

// isElsewhere reports whether a placed member holds a claim on another node.
func (b *Board) isElsewhere(claim int32, i int) bool {
	return slices.ContainsFunc(b.order, func(m int32) bool { return int(b.Where[m]) != i && b.Members[m].holds(claim) })
}

// putClaims counts a member as a holder of its claims on its node.
func (b *Board) putClaims(m *Member, i int) {
	free := b.FreeOn(i)
	for k := range m.claims {
		b.TakeClaim(i, m.claims[k].number, 1, free)
	}
	b.askClaims(m, b.asked[i*b.Width():])
}

// askClaims marks what the claims of a member take as asked for on a node.
func (b *Board) askClaims(m *Member, asked []bool) {
	for k := range m.claims {
		b.Takes(m.claims[k].number, func(slot int, _ int64) { asked[slot] = true })
	}
}

// dropClaims takes the placed members from the holders of their claims. What is free is set by the caller.
func (b *Board) dropClaims() {
	for _, m := range b.order {
		for k := range b.Members[m].claims {
			b.Hold(int(b.Where[m]), b.Members[m].claims[k].number, -1)
		}
	}
}

// takeClaims counts a pod as a holder of its claims on a node again, and reports whether the members there keep their room.
func (b *Board) takeClaims(i int, p *state.Pod) (ok bool) {
	free, asked, ok := b.FreeOn(i), b.asked[i*b.Width():], true
	for _, id := range p.Facts.Claims {
		claim := b.ClaimNumber(id)
		b.TakeClaim(i, claim, 1, free)
		b.Takes(claim, func(slot int, _ int64) { ok = ok && (free[slot] >= 0 || !asked[slot]) })
	}
	return ok
}

// AddOwnClaims adds what the claims of a single pod take that no pod of the cluster holds, by slot.
func (b *Board) AddOwnClaims(list []int64) {
	for k := range b.Members[0].claims {
		if of := &b.Members[0].claims[k]; !of.isFixed {
			b.Takes(of.number, func(slot int, amount int64) { list[slot] = quota.Add(list[slot], amount) })
		}
	}
}

// moveClaims makes a pod no holder of its claims on a node any more, or one again. The members lose their places.
func (f *Fit) moveClaims(i int, p *state.Pod, gone bool) {
	if len(p.Facts.Claims) == 0 {
		return
	}
	b, sign, change := &f.board, int64(-1), int32(1)
	if gone {
		sign, change = 1, -1
	}
	b.clear()
	f.known = false
	for _, id := range p.Facts.Claims {
		if claim := b.ClaimNumber(id); b.Hold(i, claim, change) {
			b.Takes(claim, func(slot int, amount int64) { f.add(i, slot, sign*amount) })
		}
	}
}

// add changes what is free on a node without members.
func (f *Fit) add(i, slot int, amount int64) {
	base := f.base[i*f.board.Width():]
	before := max(0, base[slot])
	base[slot] += amount
	f.free[slot] = quota.Add(f.free[slot], max(0, base[slot])-before)
}
