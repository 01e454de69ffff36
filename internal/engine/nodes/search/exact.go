package search

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/best/packing"
	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/place"
	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/internal/engine/trace"
)

// begin forgets the search of another decision.
func (x *exact) begin(s *steps) {
	if x.number == nil {
		x.number = map[*state.Unit]int{}
	}
	x.steps, x.nodes, x.bounded, x.unclear = s, 0, false, false
}

// end drops the references to the cluster.
func (x *exact) end() {
	clear(x.number)
	clear(x.units)
	x.steps, x.problem = nil, packing.Problem{}
}

// improve looks for a better result than that of the steps. As many members get a place as have one there without all
// units that may yield, else as many as must have one.
func (x *exact) improve(d room.Domain, found trace.Found) trace.Found {
	switch {
	case found == trace.NoVictims, found == trace.NoRoom && x.Request.Group == "": // for one pod on one node the sums say it
		return found
	case found == trace.Victims && len(x.victims) == 0: // nothing is better
		return found
	}
	known, where := slices.Clone(x.victims), slices.Clone(x.Where)
	x.ask(d)
	if found == trace.Victims {
		x.problem.Known, x.problem.Least = x.answerOf(d, known, where), x.enough
	}
	x.problem.MaxNodes = x.Config.MaxNodes - x.nodes
	result := x.solver.Solve(&x.problem)
	x.nodes += result.Nodes
	if result.None {
		return found
	}
	if !x.bounded || result.Bound.Compare(x.bound) < 0 {
		x.bounded, x.bound = true, result.Bound
	}
	switch {
	case result.Answer != nil && x.carryOut(d, result.Answer):
		if t := x.trace; t != nil {
			t.Add(trace.Step{Kind: trace.Improved, Count: int64(len(known)), Fits: found == trace.Victims})
		}
		return trace.Victims
	case found != trace.Victims:
		x.unclear = true
	case x.Config.Mode != ask.Replace || !x.carryOut(d, x.problem.Known):
		x.victims = append(x.victims[:0], known...)
		slices.SortFunc(x.victims, x.Compare)
		copy(x.Where, where)
	}
	return found
}

// ask makes the problem of a domain.
func (x *exact) ask(d room.Domain) {
	x.Forget()
	x.keepProtected(d)
	x.OverBudget(d)
	x.units = append(x.units[:0], x.Units(d, room.AllUnits, room.AllClasses)...)
	clear(x.number)
	x.problem = packing.Problem{Least: x.AtLeast}
	x.Open(room.NoFloor, false)
	for i := d.From; i < d.To; i++ {
		free := slices.Clone(x.FreeOn(i))
		x.AddClaimed(i, 1, free) // the problem leaves claims out that may become free
		x.problem.Free = append(x.problem.Free, free)
	}
	if x.Config.HardBudgets {
		x.budget = room.Resize(x.budget, len(x.Cluster.Budgets))
		for i, slot := range x.Cluster.BudgetOrder {
			x.budget[slot] = i
			x.problem.Left = append(x.problem.Left, x.Cluster.Budgets[slot].Facts.Allowed)
		}
	}
	for n, u := range x.units {
		x.number[u] = n
		x.problem.Units = append(x.problem.Units, x.unitFor(d, u))
	}
	x.Open(x.Highest(), false)
	for i := d.From; i < d.To; i++ {
		x.FreeOn(i)
		x.AddClaimed(i, -1, x.problem.Free[i-d.From])
	}
	x.findKinds(d)
}

// unitFor returns a unit in the form of the problem.
func (x *exact) unitFor(d room.Domain, u *state.Unit) packing.Unit {
	out := packing.Unit{Priority: u.Priority, Pods: int64(len(u.Pods)), Violations: int64(x.Violations(u)), Started: u.Started}
	var inside []*state.Pod
	for _, p := range u.Pods {
		if d.Has(x.Of(p)) {
			inside = append(inside, p)
		}
	}
	slices.SortStableFunc(inside, func(a, b *state.Pod) int { return x.Of(a) - x.Of(b) })
	for n, p := range inside {
		if n == 0 || inside[n-1].Node != p.Node {
			out.Parts = append(out.Parts, packing.Part{Node: x.Of(p) - d.From, Takes: make([]int64, x.Width())})
		}
		part := &out.Parts[len(out.Parts)-1]
		part.Pods++
		for _, a := range p.Takes {
			if slot := x.SlotOf(a); slot >= 0 {
				part.Takes[slot] += a.Value
			}
		}
	}
	if x.Config.HardBudgets {
		out.Violations, out.Charges = 0, x.chargesOf(u)
	}
	return out
}

// chargesOf returns what a unit is charged to the budgets.
func (x *exact) chargesOf(u *state.Unit) (list []packing.Charge) {
	for _, p := range u.Pods {
		for _, slot := range p.Budgets {
			if !x.Cluster.Budgets[slot].Charges(p) {
				continue
			}
			number := x.budget[slot]
			at := slices.IndexFunc(list, func(c packing.Charge) bool { return c.Budget == number })
			if at < 0 {
				at, list = len(list), append(list, packing.Charge{Budget: number})
			}
			list[at].Pods++
		}
	}
	return list
}

// answerOf returns victims and places in the form of the problem.
func (x *exact) answerOf(d room.Domain, victims []*state.Unit, where []int32) *packing.Answer {
	a := &packing.Answer{Places: make([][]int, len(x.problem.Free))}
	for _, u := range victims {
		a.Units = append(a.Units, x.number[u])
	}
	slices.Sort(a.Units)
	for node := range a.Places {
		a.Places[node] = make([]int, len(x.kinds))
	}
	for k, members := range x.kinds {
		for _, m := range members {
			if where[m] >= 0 {
				a.Places[int(where[m])-d.From][k]++
			}
		}
	}
	return a
}

// carryOut makes an answer the state of the search: victims are as few as possible, and members that are left get a
// place where there is room besides. It reports whether rules of the caller that the problem leaves out permit the
// answer.
func (x *exact) carryOut(d room.Domain, a *packing.Answer) bool {
	x.Forget()
	x.keepProtected(d)
	for n, u := range x.units {
		if _, yields := slices.BinarySearch(a.Units, n); !yields {
			x.Stay(u)
		}
	}
	x.Open(x.Highest(), false)
	for m, node := range x.spread(d, a) {
		if node < 0 {
			continue
		}
		if !x.Fits(d, &x.Members[m], int(node)) {
			return false
		}
		x.Put(m, node)
	}
	x.victims = x.victims[:0]
	for _, n := range a.Units {
		if u := x.units[n]; x.PutBack(d, u) {
			x.Stay(u)
		} else {
			x.victims = append(x.victims, u)
		}
	}
	return x.Place(d) > 0
}

// spread returns, by member, the node that an answer gives it; -1: none.
func (x *exact) spread(d room.Domain, a *packing.Answer) []int32 {
	nodes := make([]int32, len(x.Members))
	for m := range nodes {
		nodes[m] = -1
	}
	for k, members := range x.kinds {
		next := 0
		for node, counts := range a.Places {
			for range counts[k] {
				nodes[members[next]] = int32(d.From + node)
				next++
			}
		}
	}
	return nodes
}

// proofOf returns the proof of a placement; for nil, the proof that there is none.
func (x *exact) proofOf(best *place.Placement) *Proof {
	none := packing.Score{Started: state.JustNow}
	p := &Proof{Optimal: !x.unclear, Nodes: x.nodes, Value: none, Bound: none}
	if best == nil {
		return p
	}
	p.Value, p.Bound = best.Score, best.Score
	if x.bounded && x.bound.Compare(p.Value) < 0 {
		p.Bound = x.bound
	}
	p.Optimal = p.Bound == p.Value
	return p
}
