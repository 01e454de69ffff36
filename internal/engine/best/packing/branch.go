package packing

import "slices"

// search looks for units that cost less than a limit; x.better says whether it finds some. They are then in x.best,
// and x.limit is what they cost. No answer costs less than the smaller of x.limit and x.floor.
func (x *Solver) search(limit cost, sums, first bool) {
	x.sums, x.first = sums, first
	x.limit, x.floor, x.better = limit, endless, false
	for node := range x.options {
		x.coverNode(node)
	}
	bound, ok := x.spread(func(o *option) cost { return o.bound })
	if !ok || !bound.less(limit) {
		return
	}
	if x.joint > 0 {
		x.settleWhole()
	}
	if first && x.better {
		return
	}
	x.last = max(x.p.MaxNodes, x.count+1) // the first is looked at in any case
	x.branch(cost{}, bound)
}

// settleWhole looks for units in rounds. In a round each unit costs its whole cost on each of its nodes. The units on
// several nodes that the round finds yield, and the next round looks for what is still missing. If no unit runs on
// several nodes, branch does better.
func (x *Solver) settleWhole() {
	kept := slices.Clone(x.options)
	for node := range x.options {
		x.copyOptions(node)
	}
	x.fullCost = true
	var gone []int
	paid := cost{}
	for range mostRounds {
		for node := range x.options {
			x.coverNode(node)
		}
		if _, ok := x.spread(func(o *option) cost { return o.value }); !ok {
			break
		}
		units := x.chosenUnits()
		x.note(units)
		before := len(gone)
		for _, u := range units {
			if x.status[u] == open && len(x.p.Units[u].Parts) > 1 {
				x.status[u] = in
				gone = append(gone, u)
				paid = paid.plus(x.whole(u))
			}
		}
		if len(gone) == before || !paid.less(x.limit) || x.count >= x.p.MaxNodes {
			break
		}
	}
	x.fullCost, x.options = false, kept
	x.reopen(gone)
}

// mostRounds limits how often settleWhole looks.
const mostRounds = 4

// note keeps units, with the options that are chosen, if they are better.
func (x *Solver) note(units []int) (total cost, over int) {
	total, over = x.costOf(units), x.overBudget(units)
	if over < 0 && total.less(x.limit) {
		x.better, x.limit = true, total
		x.best.Units, x.best.Places = units, x.places()
	}
	return total, over
}

func (x *Solver) coverNode(node int) {
	for n := range x.options[node] {
		x.cover.solve(node, &x.options[node][n])
	}
}

// proven reports whether no answer costs less than x.limit.
func (x *Solver) proven() bool { return !x.floor.less(x.limit) }

// leave notes a bound: the sets that it leaves out cost at least that.
func (x *Solver) leave(bound cost) {
	if bound.less(x.floor) {
		x.floor = bound
	}
}

// branch looks at all sets with the units that are in and without the units that are out. paid is the cost of the
// units that are in; none of the sets costs less than before.
func (x *Solver) branch(paid, before cost) {
	if x.count++; x.count > x.last {
		x.leave(before)
		return
	}
	bound, ok := x.spread(func(o *option) cost { return o.bound })
	if !ok {
		return
	}
	bound = paid.plus(bound)
	if !bound.less(x.limit) {
		return
	}
	sum, _ := x.spread(func(o *option) cost { return o.value })
	sum = paid.plus(sum)
	units := x.chosenUnits()
	total, over := x.note(units)
	if x.first && x.better {
		return
	}
	if over < 0 && total == sum && !bound.less(sum) {
		return
	}
	u, few := x.divider(units, over)
	if u < 0 {
		if bound.less(sum) { // some cover is not proven
			x.leave(bound)
		}
		return
	}
	kept := x.keepOptions(u)
	for _, yields := range [...]bool{!few, few} { // first what the sum suggests
		if x.first && x.better {
			break
		}
		x.status[u] = out
		with := paid
		if yields {
			x.status[u] = in
			with = paid.plus(x.whole(u))
		}
		x.recover(u)
		x.branch(with, bound)
	}
	x.status[u] = open
	for i, part := range x.p.Units[u].Parts {
		x.options[part.Node] = kept[i]
	}
}

// keepOptions returns the options of the nodes of a unit, and puts copies in their place.
func (x *Solver) keepOptions(u int) (kept [][]option) {
	for _, part := range x.p.Units[u].Parts {
		kept = append(kept, x.options[part.Node])
		x.copyOptions(part.Node)
	}
	return kept
}

func (x *Solver) copyOptions(node int) {
	x.options[node] = slices.Clone(x.options[node])
	for n := range x.options[node] {
		x.options[node][n].units = nil
	}
}

// recover answers the questions about the nodes of a unit again.
func (x *Solver) recover(u int) {
	for _, part := range x.p.Units[u].Parts {
		x.coverNode(part.Node)
	}
}

// whole is the cost of a unit, as far as it counts in this search.
func (x *Solver) whole(u int) cost {
	c := x.p.Units[u].cost()
	if !x.sums {
		c.sum, c.pods = 0, 0
	}
	return c
}

func (x *Solver) costOf(units []int) (sum cost) {
	for _, u := range units {
		sum = sum.plus(x.whole(u))
	}
	return sum
}

// chosenUnits lists the units of the options that are chosen, and the units that are in.
func (x *Solver) chosenUnits() (units []int) {
	for u, s := range x.status {
		if s == in {
			units = append(units, u)
		}
	}
	for node, n := range x.choice {
		units = append(units, x.options[node][n].units...)
	}
	slices.Sort(units)
	return slices.Compact(units)
}

func (x *Solver) places() [][]int {
	list := make([][]int, len(x.choice))
	for node, n := range x.choice {
		list[node] = x.options[node][n].counts
	}
	return list
}

// overBudget returns a budget that the units violate, or -1.
func (x *Solver) overBudget(units []int) int {
	if len(x.p.Left) == 0 {
		return -1
	}
	left := slices.Clone(x.p.Left)
	for _, u := range units {
		for _, charge := range x.p.Units[u].Charges {
			if left[charge.Budget] -= charge.Pods; left[charge.Budget] < 0 {
				return charge.Budget
			}
		}
	}
	return -1
}

// divider returns the unit to divide by; -1: none. It is a unit that the violated budget is charged for, or the unit
// that is chosen on some of its nodes only and of which most is not counted. few says that it is chosen on few of its
// nodes.
func (x *Solver) divider(units []int, over int) (at int, few bool) {
	at = -1
	most := int64(0)
	for _, u := range units {
		if x.status[u] != open {
			continue
		}
		of := &x.p.Units[u]
		weight, chosen := int64(0), 0
		if over >= 0 {
			for _, charge := range of.Charges {
				if charge.Budget == over {
					weight = charge.Pods
				}
			}
			chosen = len(of.Parts)
		} else if len(of.Parts) > 1 {
			for i, part := range of.Parts {
				if slices.Contains(x.options[part.Node][x.choice[part.Node]].units, u) {
					chosen++
				} else {
					share := of.share(i)
					weight += share.pods + share.violations
				}
			}
		}
		if weight > most {
			at, most, few = u, weight, 2*chosen <= len(of.Parts)
		}
	}
	return at, few
}
