package packing

import "slices"

// mostStates and mostSteps limit the table: the states, and the steps from one to another over all nodes. Larger
// tables take longer than a search is worth.
const (
	mostStates = 1 << 14
	mostSteps  = 1 << 22
)

// enumerate lists the options of each node: the pods that have room if all units that may yield do. ok is false if
// there are too many for a table.
func (x *Solver) enumerate() (ok bool) {
	p := x.p
	x.states, x.stride = 1, sized(x.stride, len(p.Kinds))[:0]
	for _, k := range p.Kinds {
		if x.fixed { // there is nothing to choose
			x.stride = append(x.stride, 0)
			continue
		}
		x.stride = append(x.stride, x.states)
		if x.states *= k.Count + 1; x.states > mostStates {
			return false
		}
	}
	steps := 0
	x.options = make([][]option, len(p.Free))
	for node := range p.Free {
		var list []option
		if x.fixed {
			list = append(list, x.optionOf(p.Known.Places[node]))
		} else {
			list = x.extend(nil, node, make([]int, len(p.Kinds)), 0)
		}
		if steps += len(list) * x.states; steps > mostSteps {
			return false
		}
		x.options[node] = list
	}
	if !x.fixed {
		x.leaveOut()
	}
	return true
}

// extend appends the options that add pods of kinds from one on.
func (x *Solver) extend(list []option, node int, counts []int, from int) []option {
	o := x.optionOf(counts)
	if !x.cover.prepare(node, &o) {
		return list // nor with more pods
	}
	list = append(list, o)
	for k := from; k < len(counts) && len(list) <= x.states; k++ {
		if counts[k] < x.p.Kinds[k].Count && x.mayJoin(node, counts, k) {
			counts[k]++
			list = x.extend(list, node, counts, k)
			counts[k]--
		}
	}
	return list
}

// mayJoin reports whether rules permit one more pod of a kind on a node beside others.
func (x *Solver) mayJoin(node int, counts []int, kind int) bool {
	at := x.p.Kinds[kind].At
	if at == nil {
		return true
	}
	here := &at[node]
	if here.Barred {
		return false
	}
	for k, count := range counts {
		if count > 0 && here.Apart != nil && here.Apart[k] {
			return false
		}
	}
	return true
}

func (x *Solver) optionOf(counts []int) option {
	o := option{counts: slices.Clone(counts)}
	for k, count := range counts {
		o.pods += count
		o.step += count * x.stride[k]
	}
	return o
}

// leaveOut drops the options with so few pods that the other nodes have no room for the rest.
func (x *Solver) leaveOut() {
	most := func(list []option) (pods int) {
		for i := range list {
			pods = max(pods, list[i].pods)
		}
		return pods
	}
	all := 0
	for _, list := range x.options {
		all += most(list)
	}
	for node, list := range x.options {
		others := all - most(list)
		x.options[node] = slices.DeleteFunc(list, func(o option) bool { return o.pods+others < x.p.Least })
	}
}

// cell is the least sum for the pods of a state on the nodes so far.
type cell struct {
	cost    cost
	reached bool
}

// spread finds the options, one of each node, with the least sum of their costs and enough pods. It leaves them in
// x.choice.
func (x *Solver) spread(costOf func(*option) cost) (sum cost, ok bool) {
	p := x.p
	now, next := sized(x.cells[0], x.states), sized(x.cells[1], x.states)
	x.cells[0], x.cells[1] = now, next
	x.from = sized(x.from, len(x.options)*x.states)
	now[0].reached = true
	steps := 0
	for node, list := range x.options {
		clear(next)
		from := x.from[node*x.states:][:x.states]
		for n := range list {
			o := &list[n]
			if !o.possible {
				continue
			}
			here := costOf(o)
			for state := range now {
				if !now[state].reached || !x.within(state, o) {
					continue
				}
				to := &next[state+o.step]
				if total := now[state].cost.plus(here); !to.reached || total.less(to.cost) {
					to.cost, to.reached = total, true
					from[state+o.step] = int32(n)
				}
			}
		}
		steps += len(list) * x.states
		now, next = next, now
	}
	x.count += 1 + steps/stepsPerNode
	best := -1
	for state := range now {
		if now[state].reached && x.podsOf(state) >= p.Least && (best < 0 || now[state].cost.less(now[best].cost)) {
			best = state
		}
	}
	if best < 0 {
		return cost{}, false
	}
	sum = now[best].cost
	x.choice = sized(x.choice, len(x.options))
	for node := len(x.options) - 1; node >= 0; node-- {
		n := int(x.from[node*x.states+best])
		x.choice[node] = n
		best -= x.options[node][n].step
	}
	return sum, true
}

// stepsPerNode is how many steps of a table take as long as a node of the search.
const stepsPerNode = 16

// within reports whether there are so many pods of each kind.
func (x *Solver) within(state int, o *option) bool {
	if len(o.counts) == 1 || x.fixed {
		return state+o.step < x.states
	}
	for k, count := range o.counts {
		if count > 0 && state/x.stride[k]%(x.p.Kinds[k].Count+1)+count > x.p.Kinds[k].Count {
			return false
		}
	}
	return true
}

func (x *Solver) podsOf(state int) (pods int) {
	if x.fixed {
		return x.p.Least
	}
	for k, stride := range x.stride {
		pods += state / stride % (x.p.Kinds[k].Count + 1)
	}
	return pods
}
