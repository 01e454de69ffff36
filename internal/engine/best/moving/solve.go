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
	places [][]int // by unit and pod
	within []int   // by unit: which of its lists; -1: anywhere
	on     [][]int // by node: the units with a pod there
	came   []int   // by node: pods that came
	wait   []int   // units that move, in the order in which they began
	paid   Cost
	best   Result
	cut    Cost // the least bound of what was left out for the limit of nodes
}

// Solve finds the best answer. Units that are better to take come first where it does not matter.
func Solve(p *Problem) Result {
	x := &solver{Problem: p, best: Result{Bound: p.Limit}, cut: None}
	x.status, x.places, x.within = make([]status, len(p.Units)), make([][]int, len(p.Units)), make([]int, len(p.Units))
	x.on, x.came = make([][]int, len(p.Free)), make([]int, len(p.Free))
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
		}
	}
	if len(x.wait) > 0 {
		x.eachWithin(x.wait[0])
	} else {
		x.look()
	}
	if x.best.Bound = x.Limit; x.cut.Less(x.Limit) {
		x.best.Bound = x.cut
	}
	return x.best
}

// nodesPerNode is how many nodes of the problem take as long to look through as a node of the search besides.
const nodesPerNode = 64

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
	for node, free := range x.Free {
		if x.isClosed(node) {
			if slices.ContainsFunc(x.on[node], func(u int) bool { return x.status[u] == open }) {
				return node, -1
			}
			continue
		}
		if x.came[node] == 0 {
			continue
		}
		for slot, amount := range free {
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
	}
	for _, u := range list {
		x.status[u] = open
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
	for i := range unit.Pods {
		x.take(&unit.Pods[i], unit.Pods[i].At, 1)
	}
	if how == yields {
		x.look()
	} else {
		x.wait = append(x.wait, u)
		x.eachWithin(u)
		x.wait = x.wait[:len(x.wait)-1]
	}
	for i := range unit.Pods {
		x.take(&unit.Pods[i], unit.Pods[i].At, -1)
	}
	x.status[u], x.paid = open, before
	x.charge(u, 1)
}

// eachWithin looks at a unit that moves within each of its lists of nodes.
func (x *solver) eachWithin(u int) {
	if x.Units[u].Within == nil {
		x.look()
		return
	}
	for i := range x.Units[u].Within {
		x.within[u] = i
		x.look()
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
		x.Free[node][slot] += sign * need
	}
}

// placePod puts a pod on each node where it may have room, the fullest first.
func (x *solver) placePod(u, k int) {
	pod, from := &x.Units[u].Pods[k], 0
	if k > 0 && pod.isLike(&x.Units[u].Pods[k-1]) {
		from = x.places[u][k-1] // equal pods go to nodes in their order
	}
	var nodes []int
	for node := from; node < len(x.Free); node++ {
		if x.may(u, k, node) && x.mayHold(pod, node) && !x.isLike(node, nodes) {
			nodes = append(nodes, node)
		}
	}
	isFree := func(node int) bool {
		return !slices.ContainsFunc(pod.slots(), func(slot int) bool { return x.Free[node][slot] < pod.Needs[slot] })
	}
	slices.SortStableFunc(nodes, func(a, b int) int {
		if freeA, freeB := isFree(a), isFree(b); freeA != freeB {
			if freeA {
				return -1
			}
			return 1
		}
		return slices.Compare(x.Free[a][1:], x.Free[b][1:])
	})
	for _, node := range nodes {
		x.take(pod, node, -1)
		x.came[node]++
		x.places[u][k] = node
		x.look()
		x.places[u][k] = -1
		x.came[node]--
		x.take(pod, node, 1)
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
func (x *solver) mayHold(pod *Pod, node int) bool {
	for _, slot := range pod.slots() {
		free := x.Free[node][slot]
		for _, u := range x.on[node] {
			if free >= pod.Needs[slot] {
				break
			}
			if x.status[u] == open {
				free += x.takes(u, node, slot)
			}
		}
		if free < pod.Needs[slot] {
			return false
		}
	}
	return true
}

// isLike reports whether a node without units that may leave has as much free as one of a list, and any pod may run on both.
func (x *solver) isLike(node int, nodes []int) bool {
	return slices.ContainsFunc(nodes, func(other int) bool {
		return slices.Equal(x.Free[node], x.Free[other]) && x.mayAlike(node, other)
	})
}

func (x *solver) mayAlike(a, b int) bool {
	for u := range x.Units {
		unit := &x.Units[u]
		if x.status[u] == open && (slices.Contains(x.on[a], u) || slices.Contains(x.on[b], u)) {
			return false
		}
		for _, list := range unit.Within {
			if slices.Contains(list, a) != slices.Contains(list, b) {
				return false
			}
		}
		for _, pod := range unit.Pods {
			if pod.May != nil && pod.May[a] != pod.May[b] {
				return false
			}
		}
	}
	return true
}

// isLike reports whether two units of one pod may stand for each other.
func (u *Unit) isLike(v *Unit) bool {
	return len(u.Pods) == 1 && len(v.Pods) == 1 && u.Pods[0].At == v.Pods[0].At && u.Pods[0].isLike(&v.Pods[0]) && u.Yield == v.Yield &&
		u.Move == v.Move && slices.Equal(u.Charges, v.Charges) && u.Within == nil && v.Within == nil
}

func (p *Pod) isLike(q *Pod) bool {
	return slices.Equal(p.Needs, q.Needs) && slices.Equal(p.May, q.May)
}
