package nodes

import (
	"slices"

	"github.com/cedesched/cede/preemption/placement"
)

// Package placement, step 4, and Config.Charge: disruption budgets.

// charge: "Charge the units, in order of importance, to the budgets." A pod violates a budget of which the allowance is
// spent.
func charge(w *World, units []*unit) {
	left := make([]int64, len(w.budgets))
	for i := range w.budgets {
		left[i] = w.budgets[i].Allowed
	}
	for _, u := range units {
		u.violations = 0
		for _, p := range u.pods {
			if chargePod(w, p, left) {
				u.violations++
			}
		}
	}
}

// chargePod charges a pod: "to all of them", or "to one after the other, by name, up to the first that it violates".
func chargePod(w *World, p *pod, left []int64) (violates bool) {
	for i := range w.budgets {
		if !w.budgets[i].Charges(&p.Pod) {
			continue
		}
		left[i]--
		if left[i] < 0 {
			violates = true
			if toFirst(w) {
				break
			}
		}
	}
	return violates
}

// toFirst: "ChargeByMode: as built in v1.37 in ModeInPlace (ChargeToFirstViolated), else ChargeToAll."
func toFirst(w *World) bool {
	if w.config.Charge == placement.ChargeByMode {
		return w.config.Mode == placement.ModeInPlace
	}
	return w.config.Charge == placement.ChargeToFirstViolated
}

// keepBudgets: Hard, "a budget is never violated. If the soft answer violates one, the decision is made again: the least
// important units of each budget may use its allowance, and its other units stay". It is made again in the domain. A budget
// is violated if the victims are too many for it, whoever was charged before them.
func keepBudgets(w *World, c *choice) *choice {
	if c == nil || w.config.Budgets != placement.Hard {
		return c
	}
	if !violates(w, c.victims) {
		return c
	}
	allowed := withinAllowance(w, candidates(w, c.domain))
	c, _ = solve(w, c.domain, allowed, allowed) // who stays uses no allowance
	if c != nil {
		charge(w, c.victims)
	}
	return c
}

// violates reports whether units are too many for a budget, if no other unit is charged.
func violates(w *World, units []*unit) bool {
	charge(w, units)
	return slices.ContainsFunc(units, func(u *unit) bool { return u.violations > 0 })
}

// withinAllowance lists those of the potential victims of a domain that may use the allowance of all their budgets.
func withinAllowance(w *World, units []*unit) (allowed []*unit) {
	left := make([]int64, len(w.budgets))
	for i := range w.budgets {
		left[i] = w.budgets[i].Allowed
	}
	for _, u := range slices.Backward(units) {
		if use(w, u, left) {
			allowed = append(allowed, u)
		}
	}
	slices.Reverse(allowed)
	return allowed
}

// use charges a unit to what is left of each budget, if that is enough for it in all of them.
func use(w *World, u *unit, left []int64) bool {
	after := slices.Clone(left)
	for _, p := range u.pods {
		for i := range w.budgets {
			after[i] -= int64(number(w.budgets[i].Charges(&p.Pod)))
		}
	}
	for i := range after {
		if after[i] < 0 && after[i] < left[i] {
			return false
		}
	}
	copy(left, after)
	return true
}
