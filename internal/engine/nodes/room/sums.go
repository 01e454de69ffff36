package room

import (
	"math/bits"

	"github.com/cedesched/cede/internal/engine/nodes/state"
)

// Part returns a part of a capacity in units of 2^-32. The part is not larger than the capacity.
func Part(amount, capacity int64) uint64 {
	high, low := bits.Mul64(uint64(amount), 1<<32)
	part, _ := bits.Div64(high, low, uint64(capacity))
	return part
}

// LeftBySums returns, by the sums of a node that HasRoomAbove a pod, how much of it is left beside the pod: the sum of parts over
// the resources that the pod needs.
func (g *Grid) LeftBySums(n *state.Node, needs []int64) (sum uint64) {
	for slot, need := range needs {
		if slot > 0 && need > 0 {
			column := g.columns[slot]
			sum += Part(n.Capacity[column]-n.Above[column]-need, n.Capacity[column])
		}
	}
	return sum
}

// HasRoomAbove reports whether by its sums a node has room for a pod with the given needs beside the pods of a level
// and of all higher ones. Nominations and units that stay are not in the sums.
func (g *Grid) HasRoomAbove(n *state.Node, level int, needs []int64) bool {
	above := n.Above[level*n.Width():]
	for slot, need := range needs {
		if need == 0 {
			continue
		}
		column := int(g.columns[slot])
		if column < 0 || column >= n.Width() || need > n.Capacity[column]-above[column] {
			return false
		}
	}
	return true
}

// MissingOn returns what a pod with the given needs lacks on a node beside all that run, by slot. The node must have
// each resource. It fills list.
func (g *Grid) MissingOn(list []int64, n *state.Node, needs []int64) []int64 {
	list = Resize(list, len(g.Slots))
	for slot, need := range needs {
		if list[slot] = 0; need > 0 {
			column := g.columns[slot]
			list[slot] = need - (n.Capacity[column] - n.Above[column])
		}
	}
	return list
}

// Free takes what a pod frees from what is missing.
func (g *Grid) Free(missing []int64, p *state.Pod) {
	for _, a := range p.Takes {
		if slot := g.SlotOf(a); slot >= 0 {
			missing[slot] -= a.Value
		}
	}
}

// LeastPods returns the least number of pods of a node that free what is missing.
func (g *Grid) LeastPods(n *state.Node, missing []int64) (least int64) {
	for slot, amount := range missing {
		if amount > 0 {
			largest := max(1, n.Largest[g.columns[slot]])
			least = max(least, (amount-1)/largest+1)
		}
	}
	return least
}
