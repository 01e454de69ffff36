package place

import (
	"math"

	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/workload"
)

// Place gives members without a place one in the domain, in their order. A member that does not fit is skipped. It
// returns the number of members that have a place.
func (b *Board) Place(d room.Domain) int {
	switch {
	case b.Request.Rules.Placer != nil:
		b.placeOutside(d)
	case b.tree != nil:
		if !b.placeIn(d, b.tree, b.all[d.From:d.To]) {
			return 0
		}
	default:
		b.placeMembers(d, b.all[:len(b.Members)], b.all[d.From:d.To])
	}
	return len(b.order)
}

// placeMembers gives members of a list without a place one on the nodes of a list.
func (b *Board) placeMembers(d room.Domain, members, nodes []int32) {
	last, before := -1, int32(-2) // last: where in the list; before: the member tried last
	for _, m := range members {
		if b.Where[m] >= 0 {
			continue // it is where it was nominated
		}
		member := &b.Members[m]
		again := member.Same && before == m-1
		if before = m; again && b.Where[m-1] < 0 {
			continue // no place for the member before, so none for this one
		}
		at := -1
		switch b.Config.Order {
		case ask.BestFit:
			at = b.bestFit(d, member, nodes, again, last)
		case ask.RoundRobin:
			at = b.firstFit(d, member, nodes, last+1)
		default:
			from := 0
			if again {
				from = last // the nodes before it were too small for an equal member
			}
			at = b.firstFit(d, member, nodes, from)
		}
		if at >= 0 {
			b.Put(int(m), nodes[at])
			last = at
		}
	}
}

// firstFit returns where in the list the first node is at or after from, wrapping around, on which the member fits; -1:
// nowhere.
func (b *Board) firstFit(d room.Domain, m *Member, nodes []int32, from int) int {
	if from >= len(nodes) {
		from = 0
	}
	for at := from; at < len(nodes); at++ {
		if b.Fits(d, m, int(nodes[at])) {
			return at
		}
	}
	for at := range from {
		if b.Fits(d, m, int(nodes[at])) {
			return at
		}
	}
	return -1
}

const tooSmall = math.MaxUint64

// bestFit returns where in the list the node with the least left is; -1: none fits. For a member equal to the one before
// only the node of that one is rated again.
func (b *Board) bestFit(d room.Domain, m *Member, nodes []int32, again bool, last int) int {
	if b.left = room.Resize(b.left, len(b.Nodes)); again {
		b.left[nodes[last]] = b.leftOn(d, m, int(nodes[last]))
	} else {
		for _, i := range nodes {
			b.left[i] = b.leftOn(d, m, int(i))
		}
	}
	least, best := uint64(tooSmall), -1
	for at, i := range nodes {
		if b.left[i] < least {
			least, best = b.left[i], at
		}
	}
	return best
}

// leftOn says how much of a node would be left if the member has a place there.
func (b *Board) leftOn(d room.Domain, m *Member, i int) uint64 {
	if !b.Fits(d, m, i) {
		return tooSmall
	}
	return b.leftAfter(m, i)
}

// placeOutside takes the placement of the caller's placer. A member is not placed where it has no room or where a
// filter refuses it.
func (b *Board) placeOutside(d room.Domain) {
	b.settle(d)
	var pods []workload.Pod
	var members []int
	for m := range b.Members {
		if b.Where[m] < 0 {
			pods, members = append(pods, *b.Members[m].Facts), append(members, m)
		}
	}
	names := make([]string, 0, d.Size())
	for _, n := range b.Nodes[d.From:d.To] {
		names = append(names, n.Facts.Name)
	}
	for k, name := range b.trials.placer.Place(pods, names) {
		if k == len(members) {
			break
		}
		number := b.Cluster.NodeNumber(name)
		if number < 0 {
			continue
		}
		if i := b.Local(number); d.Has(i) && b.Fits(d, &b.Members[members[k]], i) {
			b.Put(members[k], int32(i))
		}
	}
}

// PlacePromised places the nominated members in the domain on their nodes. It returns how many still fit.
func (b *Board) PlacePromised(d room.Domain) int {
	placed := 0
	for m := range b.Members {
		member := &b.Members[m]
		if member.Promise < 0 {
			continue
		}
		if i := b.Local(member.Promise); d.Has(i) && b.Fits(d, member, i) {
			b.Put(m, int32(i))
			placed++
		}
	}
	return placed
}

// FindRoom places the members beside running pods, with terminating pods if now is set, else without. It first tries
// the nominations with the other members around them, then all nodes. With SkipFit what leaves a node helps a single pod only if
// it has no room there now.
func (b *Board) FindRoom(now bool) (room.Domain, bool) {
	if b.Request.IsAlone() {
		var shut []bool
		if b.Request.SkipFit && !now {
			shut = nodesWithRoom(b)
		}
		return b.findNode(now, shut)
	}
	if b.IsPromised() {
		for _, d := range b.Domains {
			b.Open(room.NoFloor, now)
			if b.PlacePromised(d) > 0 && b.Place(d) >= b.AtLeast {
				return d, true
			}
		}
	}
	for _, d := range b.Domains {
		b.Open(room.NoFloor, now)
		if b.Place(d) >= b.AtLeast {
			return d, true
		}
	}
	return room.Domain{}, false
}

// nodesWithRoom says on which nodes a single pod has room now.
func nodesWithRoom(b *Board) []bool {
	list := make([]bool, len(b.Nodes))
	b.Open(room.NoFloor, true)
	for i := range list {
		list[i] = b.Fits(b.Domains[0], &b.Members[0], i)
	}
	return list
}

// findNode is FindRoom for a single pod, without some nodes: it looks only at nodes that are not full.
func (b *Board) findNode(now bool, shut []bool) (room.Domain, bool) {
	d, member := b.Domains[0], &b.Members[0]
	b.Open(room.NoFloor, now)
	fits := func(i int) bool { return (shut == nil || !shut[i]) && b.Fits(d, member, i) }
	node, least := int32(-1), uint64(tooSmall)
	if member.Promise >= 0 {
		if i := b.Local(member.Promise); i >= 0 && fits(i) {
			node = int32(i)
		}
	}
	isFound := node >= 0
	for i := d.From; i < d.To && !isFound; i++ {
		switch {
		case !fits(i):
		case b.Config.Order != ask.BestFit:
			node, isFound = int32(i), true
		default:
			if left := b.leftAfter(member, i); left < least {
				node, least = int32(i), left
			}
		}
	}
	if node < 0 {
		return room.Domain{}, false
	}
	b.Put(0, node)
	return d, true
}

// CountBeside counts the members of a domain that have a place beside all running pods.
func (b *Board) CountBeside(d room.Domain) int {
	if b.Request.IsAlone() && d.Size() > 1 {
		if _, ok := b.findNode(false, nil); ok {
			return 1
		}
		return 0
	}
	b.Open(room.NoFloor, false)
	return b.Place(d)
}

// HaveRoomNow reports whether members have their room now, placed in an order: rules about sets may refuse another
// one.
func (b *Board) HaveRoomNow(where, order []int32) bool {
	everywhere := room.Domain{To: len(b.Nodes)}
	b.Open(room.NoFloor, true)
	for _, m := range order {
		if !b.Fits(everywhere, &b.Members[m], int(where[m])) {
			return false
		}
		b.Put(int(m), where[m])
	}
	return true
}
