package best

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/quota"
)

// Unit is a workload, or a replica of a surplus.
type Unit struct {
	Workload *cluster.Workload
	Set      int
}

// PodSet is that of [right.Victim].
func (u Unit) PodSet() string {
	v := right.Victim{Workload: u.Workload, Set: u.Set}
	return v.PodSet()
}

// Replicas returns how many replicas it is; none for a whole workload.
func (u Unit) Replicas() int64 {
	v := right.Victim{Workload: u.Workload, Set: u.Set, Count: 1}
	count, _ := v.Replicas()
	return count
}

// History says how victims came from those of the search in order. It is kept for explanations
// only.
type History struct {
	Before  []Unit // the victims of the search in order
	Victims int64  // how many workloads they are, and what they lose, if there is a cost
	Lost    int64
	Changes []Change
	// TooMany: the victims are so many that no others were looked for; nothing else is said then.
	TooMany bool
}

// Change is a change of the set, with what it comes to.
type Change struct {
	Taken, PutBack []Unit
	Victims, Lost  int64
}

// explains reports whether the decision is made for an explanation.
func (x *Solver) explains() bool {
	t := x.problem.s.Request.Trace
	return t != nil && t.Survey
}

// begins begins a history with the victims of the search in order; replicas of workloads that
// go whole are left out.
func (x *Solver) begins(taken []right.Victim) {
	if !x.explains() {
		return
	}
	x.history, x.last = &History{}, nil
	for i := range taken {
		if v := &taken[i]; !v.Partial() || !right.GoesWhole(v.Workload, taken) {
			x.last = append(x.last, Unit{v.Workload, v.Set})
		}
	}
	x.history.Before = slices.Clone(x.last)
	x.history.Victims, x.history.Lost = x.total(x.last)
}

// changes adds a change of the set to the history, if there is one.
func (x *Solver) changes(to []Unit) {
	c := Change{Taken: without(to, x.last), PutBack: without(x.last, to)}
	if len(c.Taken)+len(c.PutBack) == 0 {
		return
	}
	c.Victims, c.Lost = x.total(to)
	x.history.Changes = append(x.history.Changes, c)
	x.last = to
}

// notes adds the set of the exchanges to the history, if one is kept.
func (x *Solver) notes() {
	if x.history == nil {
		return
	}
	var to []Unit
	for _, i := range x.exchanges.chosen {
		to = append(to, Unit{x.problem.units[i].Workload, x.problem.units[i].Set})
	}
	x.changes(to)
}

// notesBest adds a solution to the history, if one is kept.
func (x *Solver) notesBest(best *solution) {
	if x.history == nil || best == nil {
		return
	}
	var to []Unit
	for _, place := range best.places {
		to = append(to, Unit{x.list[place].Workload, x.list[place].Set})
	}
	x.changes(to)
}

// without returns the units of a list that are not in another one.
func without(list, other []Unit) (rest []Unit) {
	other = slices.Clone(other)
	for _, u := range list {
		if at := slices.Index(other, u); at >= 0 {
			other = slices.Delete(other, at, at+1)
		} else {
			rest = append(rest, u)
		}
	}
	return rest
}

// total returns the number of workloads, and what they lose.
func (x *Solver) total(list []Unit) (workloads, lost int64) {
	for i, u := range list {
		if !slices.ContainsFunc(list[:i], func(o Unit) bool { return o.Workload.Is(u.Workload) }) {
			workloads++
		}
		if cost := x.problem.s.Request.Better.Cost; cost != nil {
			lost = quota.Add(lost, cost(u.Workload, u.Set))
		}
	}
	return workloads, lost
}
