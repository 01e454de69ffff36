package room

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/budget"
	"github.com/cedesched/cede/internal/engine/nodes/state"
)

// AllUnits accepts all units.
func AllUnits(*state.Unit) bool { return true }

// AllClasses accepts all classes.
func AllClasses(state.Class) bool { return true }

// Units lists the accepted units of the domain that may yield, the most important first, with a pod of an accepted
// class. The list is valid until the next list of units.
func (r *Room) Units(d Domain, accept func(*state.Unit) bool, classes func(state.Class) bool) []*state.Unit {
	list := r.list[:0]
	for i := d.From; i < d.To; i++ {
		if slices.ContainsFunc(r.Classes(i), classes) {
			list = r.appendUnits(list, i, accept)
		}
	}
	return r.sorted(list)
}

// UnitsOn is [Room.Units] for a list of nodes and all classes.
func (r *Room) UnitsOn(nodes []int32, accept func(*state.Unit) bool) []*state.Unit {
	list := r.list[:0]
	for _, i := range nodes {
		list = r.appendUnits(list, int(i), accept)
	}
	return r.sorted(list)
}

// appendUnits appends the units on a node, one for each of their pods.
func (r *Room) appendUnits(list []*state.Unit, i int, accept func(*state.Unit) bool) []*state.Unit {
	n := r.Nodes[i]
	for k, b := range n.Briefs {
		if b.Priority >= r.Priority {
			continue
		}
		r.Cost.Looked++
		if u := r.UnitOf(n.Pods[k]); u != nil && accept(u) && !r.IsStaying(u) {
			list = append(list, u)
		}
	}
	return list
}

// sorted sorts units by importance, each once.
func (r *Room) sorted(list []*state.Unit) []*state.Unit {
	r.list = list
	slices.SortFunc(list, r.Compare)
	return slices.Compact(list)
}

// Covered lists the units of the domain that may yield and that a budget covers, most important first. The list is
// valid until the next list of units.
func (r *Room) Covered(d Domain) []*state.Unit {
	if len(r.Cluster.BudgetOrder) == 0 {
		return nil
	}
	if r.Request.Rules.Importance != nil || !r.IsLarge(d) {
		// In a group that yields whole, the pod that a budget covers may run on another node.
		return r.Units(d, func(u *state.Unit) bool { return u.Covered }, func(c state.Class) bool { return c.Covered || c.Grouped })
	}
	list := r.list[:0]
	r.Cluster.CoveredBelow(r.Priority, func(u *state.Unit) bool {
		r.Cost.Looked++
		if r.IsCurrent(u) && r.Within(d, u) && !r.stays[u] {
			list = append(list, u)
		}
		return true
	})
	r.list = list
	return list
}

// Ledger returns a new ledger of the budgets. It is valid until the next one.
func (r *Room) Ledger() *budget.Ledger {
	r.ledger = budget.NewLedger(r.Cluster, r.Config.FirstViolated, r.ledger)
	return &r.ledger
}

// OverBudget charges the units that may yield to the budgets, the most important first. It returns the units that
// violate one, in the same order; Violations has the number of pods that do.
func (r *Room) OverBudget(d Domain) []*state.Unit {
	r.ClearViolations()
	r.over = r.over[:0]
	ledger := r.Ledger()
	if !r.Config.DecidesTogether(r.Request) {
		for _, u := range r.Covered(d) {
			r.noteViolations(u, ledger.Spend(u))
		}
		return r.over
	}
	for _, u := range r.coveredAnywhere() {
		if violations := ledger.Spend(u); r.Within(d, u) {
			r.noteViolations(u, violations)
		}
	}
	return r.over
}

// coveredAnywhere lists the units that may yield and that a budget covers, on all nodes of the cluster, most important
// first.
func (r *Room) coveredAnywhere() []*state.Unit {
	list := r.list[:0]
	r.Cluster.CoveredBelow(r.Priority, func(u *state.Unit) bool {
		r.Cost.Looked++
		if r.mayYieldAnywhere(u) && !r.stays[u] {
			list = append(list, u)
		}
		return true
	})
	if r.Request.Rules.Importance != nil {
		slices.SortFunc(list, r.Compare)
	}
	r.list = list
	return list
}

// OverBudgetNear is OverBudget for the units on the used nodes. The other units that violate a budget stay.
func (r *Room) OverBudgetNear(d Domain, used []int32) []*state.Unit {
	r.prepare(d, used)
	list := r.UnitsOn(used, func(u *state.Unit) bool { return u.Covered })
	r.ClearViolations()
	r.over = r.over[:0]
	for _, u := range list {
		r.noteViolations(u, r.violations(u))
	}
	r.keepOver()
	return r.over
}

func (r *Room) noteViolations(u *state.Unit, pods int) {
	if pods > 0 {
		r.violating[u] = pods
		r.over = append(r.over, u)
	}
}

// Violations returns the number of pods of a unit that violate a budget, by the last OverBudget.
func (r *Room) Violations(u *state.Unit) int { return r.violating[u] }

// ClearViolations forgets which units violate a budget.
func (r *Room) ClearViolations() { clear(r.violating) }

// ListLevels appends the priorities of the units of the domain that may still yield to list, rising. (Priorities of
// other units would not change which is the lowest that suffices, but they would change which are tried, and so the
// answer: less room may happen to be filled better.)
func (r *Room) ListLevels(list []int32, d Domain) []int32 {
	r.marks = Resize(r.marks, len(r.Levels))
	clear(r.marks)
	left := len(r.Levels)
	for i := d.From; i < d.To && left > 0; i++ {
		from, to := r.of(i)
		for row := from; row < to; row++ {
			if level := r.level[row]; !r.marks[level] {
				if r.fixOver(i, int64(r.classes[row].Priority)); r.pods[row] > 0 {
					r.marks[level] = true
					left--
				}
			}
		}
	}
	for i, priority := range r.Levels {
		if r.marks[i] {
			list = append(list, priority)
		}
	}
	return list
}
