package place

import (
	"slices"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/internal/engine/nodes/state"
)

// Units finds places for units that are on no node, one unit after the other, beside all that runs and is nominated. No
// unit is preempted for them.
type Units struct {
	board   Board
	all     room.Domain
	left    []uint64 // by node: what would be left of it after a pod like the one rated last
	rated   int32    // that pod; -1: what was rated holds no longer
	tight   []int32  // a heap of the nodes with room for such a pod, those with the least left first
	isOrder bool     // tight is in order
	few     []int32  // the same, of some nodes
	refused []int32
	closed  []int32 // nodes that the unit may not use
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

// Remove counts running pods without claims as gone.
func (u *Units) Remove(pods []*state.Pod) {
	b := &u.board
	for _, p := range pods {
		if i := b.Of(p); i >= 0 && !b.IsRemoved(p) {
			b.FreeOn(i)
			b.Return(u.all, []*state.Pod{p})
		}
		b.Remove(p, true)
	}
	b.trials.stale, u.rated = true, -1
}

// Put places a pod of the request on a schedulable node with a number of the cluster.
func (u *Units) Put(m, node int32) {
	u.board.Put(int(m), int32(u.board.Local(node)))
	u.rated = -1
}

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

// Place gives each pod of a unit a place on one of the nodes, that with the least left, and returns the numbers of their nodes; nil: one
// has none. For nil it tries all nodes.
func (u *Units) Place(members, nodes []int32) (where []int32) {
	before := len(u.board.order)
	for _, m := range members {
		at := u.find(m, nodes)
		if at < 0 {
			u.retract(before)
			return nil
		}
		u.put(m, at)
		where = append(where, u.board.Nodes[at].Number)
	}
	return where
}

// PlaceApart returns the places of a unit by itself, as [Units.Place] finds them on other nodes than those with the given numbers, where
// its running pods are. These count as gone meanwhile.
func (u *Units) PlaceApart(members, nodes, closed []int32, running []*state.Pod) (where []int32) {
	b, before := &u.board, len(u.board.order)
	var away []*state.Pod // what is free on their nodes does not matter
	for _, number := range closed {
		u.closed = append(u.closed, int32(b.Local(number)))
	}
	for _, p := range running {
		if !b.IsRemoved(p) {
			away = append(away, p)
			b.Remove(p, true)
		}
	}
	b.trials.stale = true
	last := len(members) - 1 // it is not put on its node
	if where = u.Place(members[:last], nodes); last == 0 || where != nil {
		if at := u.find(members[last], nodes); at < 0 {
			where = nil
		} else {
			where = append(where, b.Nodes[at].Number)
		}
	}
	u.retract(before)
	for _, p := range away {
		b.Remove(p, false)
	}
	b.trials.stale, u.closed = true, u.closed[:0]
	return where
}

// find returns the node with the least left on which a pod fits; -1: none. It looks at the room first: rules of the caller are asked about
// the nodes in order of what is left there.
func (u *Units) find(m int32, nodes []int32) int32 {
	u.rate(m)
	list := u.order(nodes)
	for len(*list) > 0 {
		at := (*list)[0]
		if !slices.Contains(u.closed, at) && u.board.Fits(u.all, &u.board.Members[m], int(at)) {
			return at
		}
		u.refused, *list = append(u.refused, at), heap.Drop(*list, u.isTighter)
	}
	return -1
}

// put places a pod on the node that was found for it.
func (u *Units) put(m, at int32) {
	u.board.Put(int(m), at)
	if u.left[at] = u.leftOn(&u.board.Members[m], int(at)); u.left[at] == tooSmall && u.isOrder {
		u.tight = heap.Drop(u.tight, u.isTighter)
	}
}

// retract takes the places of the pods placed last.
func (u *Units) retract(left int) {
	b := &u.board
	if len(b.order) == left {
		return
	}
	var nodes []int32
	for _, m := range b.order[left:] {
		nodes = append(nodes, b.Where[m])
	}
	b.retract(left)
	for _, i := range nodes {
		u.left[i] = u.leftOn(&b.Members[u.rated], int(i))
	}
	u.isOrder = false
}

// isTighter orders nodes by what is left.
func (u *Units) isTighter(a, b *int32) bool {
	x, y := u.left[*a], u.left[*b]
	return x < y || x == y && *a < *b
}

// order returns the heap of all nodes, or that of a list of them.
func (u *Units) order(nodes []int32) *[]int32 {
	list := &u.tight
	switch {
	case nodes != nil:
		list, u.isOrder = &u.few, false // tight is not told what becomes of these nodes
	case u.isOrder:
		for _, at := range u.refused { // for the pod before
			u.tight = heap.Push(u.tight, at, u.isTighter)
		}
		u.refused = u.refused[:0]
		return list
	default:
		nodes, u.isOrder = u.board.all[:len(u.left)], true
	}
	*list, u.refused = (*list)[:0], u.refused[:0]
	for _, i := range nodes {
		if u.left[i] != tooSmall {
			*list = append(*list, i)
		}
	}
	heap.Init(*list, u.isTighter)
	return list
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
	u.rated, u.isOrder = m, false
}

// leftOn returns what a pod would leave of a node: by the sums of the node, or by counting where pods are nominated, hold
// claims, are gone or were placed.
func (u *Units) leftOn(m *Member, i int) uint64 {
	b, n := &u.board, u.board.Nodes[i]
	isCounted := len(n.Promised) > 0 || n.Claims || b.IsCounted(i)
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
