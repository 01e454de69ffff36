package room

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/budget"
	"github.com/cedesched/cede/internal/engine/nodes/state"
)

// Room counts what is free on the nodes, with the units up to a floor gone. It also lists the units that may yield.
type Room struct {
	Stays
	floor  int64 // units of this priority or lower are gone
	now    bool  // terminating pods count
	free   []int64
	isFree []int32 // by node: free is counted in the placement with this number
	// removed holds running pods that are gone whatever their priority.
	removed map[*state.Pod]bool
	claims  claims

	list      []*state.Unit // the memory of the last list of units
	over      []*state.Unit // that violate a budget
	violating map[*state.Unit]int
	ledger    budget.Ledger
	marks     []bool // by level
}

// Begin prepares the room for a request. The counters begin at zero.
func (r *Room) Begin(config *ask.Config, c *state.Cluster, request *ask.Request) {
	if r.violating == nil {
		r.violating = map[*state.Unit]int{}
	}
	r.Judge.Begin(config, c, request)
	r.Cost = Cost{}
	r.Stays.begin()
	r.free, r.isFree = Resize(r.free, len(r.Nodes)*r.Width()), Resize(r.isFree, len(r.Nodes))
	clear(r.isFree)
	r.beginClaims()
}

// End drops the references to the cluster and the request.
func (r *Room) End() {
	clear(r.violating)
	for _, list := range []*[]*state.Unit{&r.list, &r.over} {
		clear((*list)[:cap(*list)])
		*list = (*list)[:0]
	}
	r.ledger, r.removed, r.claims = r.ledger.Release(), nil, claims{}
	r.Stays.end()
}

// Open begins to count with the units up to a floor gone. If now is set, terminating pods count. What is free on a
// node is counted when it is asked for: most nodes are refused by their sums, or not looked at.
func (r *Room) Open(floor int64, now bool) {
	r.floor, r.now = floor, now
	r.Cost.Opened++
}

// IsCounted reports whether what is free on a node was counted.
func (r *Room) IsCounted(i int) bool { return r.isFree[i] == int32(r.Cost.Opened) }

// FreeOn returns what is free on a node, by slot. The caller may count more as taken.
func (r *Room) FreeOn(i int) []int64 {
	free := r.row(r.free, i)
	if r.IsCounted(i) {
		return free
	}
	r.isFree[i] = int32(r.Cost.Opened)
	r.fixOver(i, r.floor)
	from, to := r.of(i)
	capacity, fixed := r.row(r.capacity, i), r.row(r.fixed, i)
	for slot := range free {
		free[slot] = capacity[slot] - fixed[slot]
	}
	if r.now {
		for slot, v := range r.row(r.leaving, i) {
			free[slot] -= v
		}
	}
	for row := to - 1; row >= from && int64(r.classes[row].Priority) > r.floor; row-- {
		for slot, v := range r.row(r.yields, row) {
			free[slot] -= v
		}
	}
	if r.Nodes[i].Claims {
		r.holdOn(i, free)
	}
	return free
}

// IsFull reports whether by its sums a node that is not counted has no room for a pod with the given needs.
func (r *Room) IsFull(i int, needs []int64) bool {
	if r.IsCounted(i) {
		return false
	}
	n, gone := r.Nodes[i], 0
	if r.floor != NoFloor {
		gone = n.LevelsUpTo(r.floor)
	}
	return (r.now || r.AsBuilt || !n.Leaves) && !r.HasRoomAbove(n, gone, needs)
}

// Return counts the pods that run in the domain as gone again.
func (r *Room) Return(d Domain, pods []*state.Pod) {
	for _, p := range pods {
		if i := r.Of(p); d.Has(i) {
			free := r.row(r.free, i)
			for _, a := range p.Takes {
				if slot := r.SlotOf(a); slot >= 0 {
					free[slot] += a.Value
				}
			}
			r.takeClaims(i, p, -1, free)
		}
	}
}

// IsThere reports whether a running pod stays at the floor.
func (r *Room) IsThere(p *state.Pod) bool {
	switch {
	case r.removed[p]:
		return r.Stuck(p)
	case p.Facts.Terminating && !r.AsBuilt:
		return r.now || r.Stuck(p)
	}
	return p.Priority >= r.Priority || int64(p.Priority) > r.floor || r.IsStaying(r.UnitOf(p))
}

// Stands reports whether a running pod is there, or is in no unit of the domain.
func (r *Room) Stands(d Domain, p *state.Pod) bool {
	return r.IsThere(p) || r.IsElsewhere(d, p) && !r.removed[p]
}

// Remove counts a running pod as gone whatever its priority, or as there again.
func (r *Room) Remove(p *state.Pod, gone bool) {
	if r.removed == nil {
		r.removed = map[*state.Pod]bool{}
	}
	if gone {
		r.removed[p] = true
	} else {
		delete(r.removed, p)
	}
}

// IsRemoved reports whether a running pod was removed.
func (r *Room) IsRemoved(p *state.Pod) bool { return r.removed[p] }

// Removed lists the removed pods, by ID.
func (r *Room) Removed() []*state.Pod {
	return slices.SortedFunc(maps.Keys(r.removed), state.ComparePods)
}

// IsGone reports whether a unit of lower priority is gone at the floor, unless it stays.
func (r *Room) IsGone(u *state.Unit) bool { return int64(u.Priority) <= r.floor }
