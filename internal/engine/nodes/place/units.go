package place

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/internal/engine/nodes/state"
)

// Units finds places for units that are on no node, one unit after the other, beside all that runs and is nominated. No
// unit is preempted for them.
type Units struct {
	board Board
	all   room.Domain
	left  []uint64 // by node: what would be left of it after a pod like the one rated last
	rated int32    // that pod; -1: what was rated holds no longer
}

// Begin prepares for the pods of a request: those of several units.
func (u *Units) Begin(config *ask.Config, c *state.Cluster, r *ask.Request) {
	u.rated = -1
	u.board.Begin(config, c, r)
	u.board.Open(room.NoFloor, true)
	u.all = room.Domain{To: len(u.board.Nodes)}
	u.left = room.Resize(u.left, len(u.board.Nodes))
}

// End drops the references to the cluster and the request.
func (u *Units) End() { u.board.End() }

// Nodes returns the nodes of the search with the given names, in their order. Unschedulable and unknown ones are left out.
func (u *Units) Nodes(names []string) (list []int32) {
	for _, name := range names {
		if number := u.board.Cluster.NodeNumber(name); number >= 0 && u.board.Local(number) >= 0 {
			list = append(list, int32(u.board.Local(number)))
		}
	}
	slices.Sort(list)
	return list
}

// Place gives each pod of a unit a place on one of the nodes, that with the least left, or none to all of them. For nil it
// tries all nodes.
func (u *Units) Place(members, nodes []int32) bool {
	if nodes == nil {
		nodes = u.board.all[:len(u.board.Nodes)]
	}
	before := len(u.board.order)
	for _, m := range members {
		if !u.placePod(m, nodes) {
			u.board.retract(before)
			u.rated = -1
			return false
		}
	}
	return true
}

// Where returns the name of the node of a pod.
func (u *Units) Where(m int32) string { return u.board.Nodes[u.board.Where[m]].Facts.Name }

// placePod looks at the room first: rules of the caller are asked about the nodes in order of what is left there.
func (u *Units) placePod(m int32, nodes []int32) bool {
	b, member := &u.board, &u.board.Members[m]
	u.rate(m)
	for {
		least, at := uint64(tooSmall), int32(-1)
		for _, i := range nodes {
			if u.left[i] < least {
				least, at = u.left[i], i
			}
		}
		if at < 0 {
			return false
		}
		if b.Fits(u.all, member, int(at)) {
			b.Put(int(m), at)
			u.left[at] = u.leftOn(member, int(at))
			return true
		}
		u.left[at], u.rated = tooSmall, -1 // for this pod only
	}
}

// rate computes what a pod would leave of each node. Equal pods mostly follow each other.
func (u *Units) rate(m int32) {
	b := &u.board
	if u.rated >= 0 && slices.Equal(b.Members[m].Needs, b.Members[u.rated].Needs) && slices.Equal(b.Members[m].allowed, b.Members[u.rated].allowed) {
		return
	}
	for i := range u.left {
		u.left[i] = u.leftOn(&b.Members[m], i)
	}
	u.rated = m
}

// leftOn returns what a pod would leave of a node: by the sums of the node, or by counting where pods are nominated, hold
// claims or were placed.
func (u *Units) leftOn(m *Member, i int) uint64 {
	b, n := &u.board, u.board.Nodes[i]
	isCounted := len(n.Promised) > 0 || n.Claims || b.count[i] > 0
	switch {
	case !m.Names(n), isCounted && !b.HasRoom(m, i), !isCounted && !b.HasRoomAbove(n, 0, m.Needs):
		return tooSmall
	case isCounted:
		return b.leftAfter(m, i)
	}
	return b.LeftBySums(n, m.Needs)
}

// leftAfter says how much of a node is left beside a pod that has room there: the sum of left/capacity over the resources
// that the pod needs, in units of 2^-32.
func (b *Board) leftAfter(m *Member, i int) (sum uint64) {
	free := b.FreeOn(i)
	for slot, need := range m.Needs {
		if slot > 0 && need > 0 {
			sum += room.Part(free[slot]-need, b.Capacity(i, slot))
		}
	}
	return sum
}
