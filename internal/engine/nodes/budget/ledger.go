package budget

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/workload"
)

// Ledger holds what budgets still allow.
type Ledger struct {
	budgets []state.Budget
	left    []int64 // by slot
	first   bool    // a pod is charged to its budgets up to the first violated one
}

// NewLedger returns a ledger of all budgets of a cluster. It reuses the memory of an old one.
func NewLedger(c *state.Cluster, firstViolated bool, old Ledger) Ledger {
	l := Ledger{budgets: c.Budgets, left: slices.Grow(old.left[:0], len(c.Budgets)), first: firstViolated}
	for i := range c.Budgets {
		l.left = append(l.left, c.Budgets[i].Facts.Allowed)
	}
	return l
}

// Release returns the memory of a ledger, for the next one.
func (l Ledger) Release() Ledger { return Ledger{left: l.left} }

// Spend charges the pods of a unit to the budgets and counts the pods that violate one. Each pod is charged to every
// budget that covers it, also after one that it violates, or up to that one.
func (l *Ledger) Spend(u *state.Unit) (violations int) {
	for _, p := range u.Pods {
		over := false
		for _, slot := range p.Budgets {
			if !l.budgets[slot].Charges(p) {
				continue
			}
			l.left[slot]--
			if over = over || l.left[slot] < 0; over && l.first {
				break
			}
		}
		if over {
			violations++
		}
	}
	return violations
}

// SpendAll charges the unit to every budget that covers a pod of it, and reports whether all of them allow it; if
// not, nothing is charged.
func (l *Ledger) SpendAll(u *state.Unit) bool {
	if !l.charge(u, 1) {
		l.charge(u, -1)
		return false
	}
	return true
}

// Allows reports whether all budgets allow the unit. Nothing is charged.
func (l *Ledger) Allows(u *state.Unit) bool {
	ok := l.charge(u, 1)
	l.charge(u, -1)
	return ok
}

// charge charges every pod of a unit a number of times, and reports whether all budgets allow it.
func (l *Ledger) charge(u *state.Unit, times int64) bool {
	ok := true
	for _, p := range u.Pods {
		for _, slot := range p.Budgets {
			if l.budgets[slot].Charges(p) {
				l.left[slot] -= times
				ok = ok && l.left[slot] >= 0
			}
		}
	}
	return ok
}

// Exhausts reports whether a pod violates a budget, whatever else yields: the budget allows nothing.
func Exhausts(c *state.Cluster, p *state.Pod) bool {
	return slices.ContainsFunc(p.Budgets, func(slot int32) bool {
		b := &c.Budgets[slot]
		return b.Facts.Allowed <= 0 && b.Charges(p)
	})
}

// ExhaustsAlone is Exhausts for a pod of which only the brief is known. False may also mean that the brief does not
// say.
func ExhaustsAlone(c *state.Cluster, b state.Brief) bool {
	return !b.Whole && !b.Leaving && IsSpent(c, b)
}

// IsSpent reports whether the only budget of a pod allows nothing: the pod violates it when its unit yields.
func IsSpent(c *state.Cluster, b state.Brief) bool {
	if b.Budget < 0 {
		return false
	}
	of := &c.Budgets[b.Budget]
	return of.Facts.Allowed <= 0 && of.ChargesAll()
}

// PotentialVictims returns the units of lower priority in the order in which they are put back, and for each the
// number of its pods that violate a budget if all more important units are evicted, too. Units that violate a budget
// come first; in both parts the most important comes first.
func PotentialVictims(c *state.Cluster, priority int32, firstViolated bool) (units []*state.Unit, violations []int) {
	ledger := NewLedger(c, firstViolated, Ledger{})
	var others []*state.Unit
	for _, u := range c.Units() {
		if u.Priority >= priority {
			continue
		}
		if n := ledger.Spend(u); n > 0 {
			units, violations = append(units, u), append(violations, n)
		} else {
			others = append(others, u)
		}
	}
	return append(units, others...), append(violations, make([]int, len(others))...)
}

// Disrupt returns the budgets that cover some of the given running pods, with these pods counted as disrupted.
func Disrupt(c *state.Cluster, pods []string) []workload.DisruptionBudget {
	charged := map[int32]*workload.DisruptionBudget{}
	for _, id := range pods {
		for _, slot := range c.Pod(id).Budgets {
			if charged[slot] == nil {
				b := c.Budgets[slot].Facts.Clone()
				charged[slot] = &b
			}
			if b := charged[slot]; !slices.Contains(b.Disrupted, id) {
				b.Disrupted, b.Allowed = append(b.Disrupted, id), max(0, b.Allowed-1)
			}
		}
	}
	var list []workload.DisruptionBudget
	for _, slot := range c.BudgetOrder {
		if b := charged[slot]; b != nil {
			list = append(list, *b)
		}
	}
	return list
}
