package moving

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/quota"
)

// status says what a unit does in the set that is looked at.
type status uint8

const (
	open status = iota
	stays
	moves
	yields
)

type solver struct {
	*Problem
	status []status
	loose  [][]int64 // by node and slot: what the units take that are open
	class  []int     // by node: nodes of one class are named by the same lists
	cheap  [][]item  // by slot: what yields at the least extra price, beyond the least of a unit, for what it takes
	places [][]int   // by unit and pod
	within []int     // by unit: which of its lists; -1: anywhere
	on     [][]int   // by node: the units with a pod there
	came   []int     // by node: pods that came
	busy   []int     // the nodes with such pods, and before them the closed ones
	closed int       // how many these are
	spare  []int64   // by slot: what is free, in sum, on nodes that are not closed
	wait   []int     // units that move, in the order in which they began
	paid   Cost
	best   Result
	cut    Cost // the least bound of what was left out for the limit of nodes
}

// Solve finds the best answer. Units that are better to take come first where it does not matter.
func Solve(p *Problem) Result {
	x := &solver{Problem: p, best: Result{Bound: p.Limit}, cut: None}
	x.status, x.places, x.within = make([]status, len(p.Units)), make([][]int, len(p.Units)), make([]int, len(p.Units))
	x.on, x.came, x.loose = make([][]int, len(p.Free)), make([]int, len(p.Free)), make([][]int64, len(p.Free))
	for node, free := range p.Free {
		x.loose[node] = make([]int64, len(free))
		if x.spare == nil {
			x.spare = make([]int64, len(free))
		}
		if x.isClosed(node) {
			x.busy, x.closed = append(x.busy, node), x.closed+1
			continue
		}
		for slot, amount := range free {
			x.spare[slot] += max(0, amount)
		}
	}
	for u := range p.Units {
		x.within[u] = -1
		x.places[u] = slices.Repeat([]int{-1}, len(p.Units[u].Pods))
		for _, pod := range p.Units[u].Pods {
			if pod.At >= 0 && !slices.Contains(x.on[pod.At], u) {
				x.on[pod.At] = append(x.on[pod.At], u)
			}
		}
		if p.Units[u].Pods[0].At < 0 {
			x.status[u] = moves
			x.wait = append(x.wait, u)
		} else {
			x.loosen(u, 1)
		}
	}
	x.classify()
	x.findCheap()
	x.eachWithin(x.wait)
	if x.best.Bound = x.Limit; x.cut.Less(x.Limit) {
		x.best.Bound = x.cut
	}
	return x.best
}

// nodesPerNode is how many nodes of the problem take as long to look through as a node of the search besides.
const nodesPerNode = 16

// loosen counts what a unit takes as what may leave.
func (x *solver) loosen(u int, sign int64) {
	for _, pod := range x.Units[u].Pods {
		for slot, need := range pod.Needs {
			x.loose[pod.At][slot] += sign * need
		}
	}
}

// classify finds which nodes are named by the same lists of the units.
func (x *solver) classify() {
	x.class = make([]int, len(x.Free))
	split := func(has func(node int) bool) {
		next := map[[2]int]int{}
		for node, class := range x.class {
			key := [2]int{class, 0}
			if has(node) {
				key[1] = 1
			}
			if _, known := next[key]; !known {
				next[key] = len(next)
			}
			x.class[node] = next[key]
		}
	}
	var last []bool
	for u := range x.Units {
		for _, list := range x.Units[u].Within {
			split(func(node int) bool { return slices.Contains(list, node) })
		}
		for _, pod := range x.Units[u].Pods {
			if pod.May != nil && !slices.Equal(pod.May, last) {
				last = pod.May
				split(func(node int) bool { return last[node] })
			}
		}
	}
}

// look looks at all sets with the units that leave so far.
func (x *solver) look() {
	bound, possible := x.bound()
	if !possible || !bound.Less(x.Limit) {
		return
	}
	if x.best.Nodes += 1 + len(x.Free)/nodesPerNode; x.best.Nodes > x.MaxNodes {
		if bound.Less(x.cut) {
			x.cut = bound
		}
		return
	}
	for _, u := range x.wait {
		if k := slices.Index(x.places[u], -1); k >= 0 {
			x.placePod(u, k)
			return
		}
	}
	if node, slot := x.over(); node >= 0 {
		x.leaveNode(node, slot)
		return
	}
	x.note()
}

// note keeps the set as the best answer.
func (x *solver) note() {
	a := &Answer{Cost: x.paid, Leaves: make([]bool, len(x.Units)), Places: make([][]int, len(x.Units))}
	for u := range x.Units {
		a.Leaves[u] = x.status[u] == moves || x.status[u] == yields
		a.Places[u] = slices.Clone(x.places[u])
	}
	x.best.Answer, x.Limit = a, x.paid
}

// over returns a node that is over, and a slot of which it has too little; -1: none is.
func (x *solver) over() (node, slot int) {
	for i, node := range x.busy {
		if i < x.closed {
			if slices.ContainsFunc(x.on[node], func(u int) bool { return x.status[u] == open }) {
				return node, -1
			}
			continue
		}
		for slot, amount := range x.Free[node] {
			if amount < 0 && x.asksFor(node, slot) {
				return node, slot
			}
		}
	}
	return -1, -1
}

func (x *solver) isClosed(node int) bool { return x.Closed != nil && x.Closed[node] }

// asksFor reports whether a pod that came to a node needs some of a slot.
func (x *solver) asksFor(node, slot int) bool {
	for _, u := range x.wait {
		for k, at := range x.places[u] {
			if at == node && x.Units[u].Pods[k].Needs[slot] > 0 {
				return true
			}
		}
	}
	return false
}

// leaveNode makes one of the units on a node leave, each in turn: those before it then stay. Slot is what the node has too
// little of; -1: all of its units must leave, so one is enough.
func (x *solver) leaveNode(node, slot int) {
	list := slices.DeleteFunc(slices.Clone(x.on[node]), func(u int) bool {
		return x.status[u] != open || slot >= 0 && x.takes(u, node, slot) == 0
	})
	price := func(u int) int64 { return min(x.Units[u].Move, x.Units[u].Yield) }
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(price(a), price(b)) })
	if slot < 0 {
		list = list[:1]
	}
	for i, u := range list {
		if !slices.ContainsFunc(list[:i], func(before int) bool { return x.Units[before].isLike(&x.Units[u]) }) {
			x.leave(u, moves)
			x.leave(u, yields)
		}
		x.status[u] = stays
		x.loosen(u, -1)
	}
	for _, u := range list {
		x.status[u] = open
		x.loosen(u, 1)
	}
}

// takes returns what a unit takes of a slot on a node.
func (x *solver) takes(u, node, slot int) (sum int64) {
	for _, pod := range x.Units[u].Pods {
		if pod.At == node {
			sum += pod.Needs[slot]
		}
	}
	return sum
}

// leave looks at the sets in which a unit leaves in one way.
func (x *solver) leave(u int, how status) {
	unit := &x.Units[u]
	price := unit.Move
	if how == yields {
		price = unit.Yield
	}
	if price == Never || !x.charge(u, -1) {
		return
	}
	before := x.paid
	x.paid = Cost{quota.Add(x.paid.Lost, price), x.paid.Pods + int64(len(unit.Pods))}
	x.status[u] = how
	x.loosen(u, -1)
	for i := range unit.Pods {
		x.take(&unit.Pods[i], unit.Pods[i].At, 1)
	}
	if how == yields {
		x.look()
	} else {
		x.wait = append(x.wait, u)
		x.eachWithin(x.wait[len(x.wait)-1:])
		x.wait = x.wait[:len(x.wait)-1]
	}
	for i := range unit.Pods {
		x.take(&unit.Pods[i], unit.Pods[i].At, -1)
	}
	x.status[u], x.paid = open, before
	x.loosen(u, 1)
	x.charge(u, 1)
}

// eachWithin looks at units that move, each within each of its lists of nodes.
func (x *solver) eachWithin(units []int) {
	if len(units) == 0 {
		x.look()
		return
	}
	u := units[0]
	if x.Units[u].Within == nil {
		x.eachWithin(units[1:])
	}
	for i := range x.Units[u].Within {
		x.within[u] = i
		x.eachWithin(units[1:])
	}
	x.within[u] = -1
}

// charge changes what is left of the budgets of a unit; it reports whether enough was left, and changes nothing if not.
func (x *solver) charge(u int, sign int64) bool {
	for i, budget := range x.Units[u].Charges {
		if x.Left[budget] += sign; x.Left[budget] < 0 {
			for _, budget := range x.Units[u].Charges[:i+1] {
				x.Left[budget] -= sign
			}
			return false
		}
	}
	return true
}

// take changes what is free on a node by a pod.
func (x *solver) take(pod *Pod, node int, sign int64) {
	for slot, need := range pod.Needs {
		before := x.Free[node][slot]
		after := before + sign*need
		if x.Free[node][slot] = after; !x.isClosed(node) {
			x.spare[slot] += max(0, after) - max(0, before)
		}
	}
}

// placePod puts a pod on each node where it may have room, the fullest first. Nodes of one class that have as much free, and no unit
// that may leave, are alike: the first of them is enough.
func (x *solver) placePod(u, k int) {
	pod, from := &x.Units[u].Pods[k], 0
	if k > 0 && pod.isLike(&x.Units[u].Pods[k-1]) {
		from = x.places[u][k-1] // equal pods go to nodes in their order
	}
	slots := pod.slots()
	isFree := func(node int) bool {
		return !slices.ContainsFunc(slots, func(slot int) bool { return x.Free[node][slot] < pod.Needs[slot] })
	}
	var now, later []int // with room now, and when units have left
	for node := from; node < len(x.Free); node++ {
		switch {
		case !x.may(u, k, node):
		case isFree(node):
			now = append(now, node)
		case x.mayHold(pod, slots, node):
			later = append(later, node)
		}
	}
	isSettled := func(node int) bool {
		return !slices.ContainsFunc(x.on[node], func(u int) bool { return x.status[u] == open })
	}
	for _, list := range [][]int{now, later} {
		slices.SortFunc(list, func(a, b int) int {
			return cmp.Or(slices.Compare(x.Free[a][1:], x.Free[b][1:]), cmp.Compare(x.Free[a][0], x.Free[b][0]), cmp.Compare(x.class[a], x.class[b]),
				cmp.Compare(a, b))
		})
		var next []int
		for i, node := range list {
			last := max(0, i-1)
			alike := i > 0 && x.class[list[last]] == x.class[node] && slices.Equal(x.Free[list[last]], x.Free[node])
			if !alike || !isSettled(list[last]) || !isSettled(node) {
				next = append(next, node)
			}
		}
		for _, node := range next {
			x.take(pod, node, -1)
			if x.came[node]++; x.came[node] == 1 {
				x.busy = append(x.busy, node)
			}
			x.places[u][k] = node
			x.look()
			x.places[u][k] = -1
			if x.came[node]--; x.came[node] == 0 {
				x.busy = x.busy[:len(x.busy)-1]
			}
			x.take(pod, node, 1)
		}
	}
}

// slots lists the slots that a pod needs some of.
func (p *Pod) slots() (list []int) {
	for slot, need := range p.Needs {
		if need > 0 {
			list = append(list, slot)
		}
	}
	return list
}

// may reports whether a pod may run on a node.
func (x *solver) may(u, k, node int) bool {
	unit := &x.Units[u]
	if x.isClosed(node) || unit.Pods[k].May != nil && !unit.Pods[k].May[node] {
		return false
	}
	return x.within[u] < 0 || slices.Contains(unit.Within[x.within[u]], node)
}

// mayHold reports whether a node has room for a pod if all units that may leave it do.
func (x *solver) mayHold(pod *Pod, slots []int, node int) bool {
	return !slices.ContainsFunc(slots, func(slot int) bool { return x.Free[node][slot]+x.loose[node][slot] < pod.Needs[slot] })
}

// isLike reports whether two units of one pod may stand for each other.
func (u *Unit) isLike(v *Unit) bool {
	return len(u.Pods) == 1 && len(v.Pods) == 1 && u.Pods[0].At == v.Pods[0].At && u.Pods[0].isLike(&v.Pods[0]) && u.Yield == v.Yield &&
		u.Move == v.Move && slices.Equal(u.Charges, v.Charges) && u.Within == nil && v.Within == nil
}

func (p *Pod) isLike(q *Pod) bool {
	return slices.Equal(p.Needs, q.Needs) && slices.Equal(p.May, q.May)
}
