package place

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/quota"
)

// Fits reports whether a member has room on a node, may run there, and has no conflict with pods that run there or
// are nominated ahead of it.
func (b *Board) Fits(d room.Domain, m *Member, i int) bool {
	if !m.Names(b.Nodes[i]) || b.IsFull(i, m.Needs) {
		return false
	}
	b.Cost.Tried++
	if !hasRoom(b.FreeOn(i), m.Needs) || !b.claimsFit(m, i) {
		return false
	}
	return !b.Request.Rules.DecidePlaces() || b.FiltersPlace(d, m, i) && b.trialsAllow(d, m, i)
}

func hasRoom(free, needs []int64) bool {
	for slot, need := range needs {
		if need > free[slot] && need > 0 {
			return false
		}
	}
	return true
}

// HasRoom reports whether by its amounts a node has room for a member.
func (b *Board) HasRoom(m *Member, i int) bool { return hasRoom(b.FreeOn(i), m.Needs) }

// IsPossible reports whether a member may run on a node, whatever else runs there.
func (b *Board) IsPossible(m *Member, n *state.Node) bool {
	return !n.Facts.Unschedulable && m.Names(n) && b.areFeasible(m, n)
}

// PutBack puts a unit back where it runs and reports whether the members placed in the domain keep their room; if
// not, nothing changes. Only resources that a member requests are checked, as everywhere: a node may hold too much of
// others.
func (b *Board) PutBack(d room.Domain, u *state.Unit) bool {
	b.Cost.Checks++
	if !b.filtersAllow(d, u) {
		return false
	}
	for at, p := range u.Pods {
		if i := b.Of(p); d.Has(i) && !b.takeRoom(i, p) {
			b.Return(d, u.Pods[:at+1])
			return false
		}
	}
	if !b.trialsAllowBack(d, u) {
		b.Return(d, u.Pods)
		return false
	}
	return true
}

// takeRoom counts a pod as running on a node and reports whether the members there keep their room.
func (b *Board) takeRoom(i int, p *state.Pod) bool {
	free, asked, ok := b.FreeOn(i), b.asked[i*b.Width():], true
	for _, a := range p.Takes {
		if slot := b.SlotOf(a); slot >= 0 {
			free[slot] -= a.Value
			ok = ok && (free[slot] >= 0 || !asked[slot])
		}
	}
	if len(p.Facts.Claims) > 0 {
		ok = b.takeClaims(i, p) && ok
	}
	return ok
}

// SmallestNeed returns what the member needs that needs least of a slot.
func (b *Board) SmallestNeed(slot int) int64 {
	least := b.Members[0].Needs[slot]
	for m := range b.Members {
		least = min(least, b.Members[m].Needs[slot])
	}
	return least
}

// LeastNeeds returns what the least number of members needs at least, by slot: the smallest members in each slot.
func (b *Board) LeastNeeds() []int64 {
	least := make([]int64, len(b.Slots))
	list := make([]int64, len(b.Members))
	for slot := range least {
		for m := range b.Members {
			list[m] = b.Members[m].Needs[slot]
		}
		slices.Sort(list)
		for _, need := range list[:b.AtLeast] {
			least[slot] = quota.Add(least[slot], need)
		}
	}
	return least
}
