package nodes

import "github.com/cedesched/cede/preemption/placement"

// Package placement, step 4, and Config.Charge: disruption budgets.

// charge: "Charge the units, in order of importance, to the budgets." A pod violates a budget of which the allowance is
// spent.
func (w *world) charge(units []*unit) {
	left := make([]int64, len(w.budgets))
	for i := range w.budgets {
		left[i] = w.budgets[i].Allowed
	}
	for _, u := range units {
		u.violations = 0
		for _, p := range u.pods {
			if w.chargePod(p, left) {
				u.violations++
			}
		}
	}
}

// chargePod charges a pod: "to all of them", or "to one after the other, by name, up to the first that it violates".
func (w *world) chargePod(p *pod, left []int64) (violates bool) {
	for i := range w.budgets {
		if !w.budgets[i].Charges(&p.Pod) {
			continue
		}
		left[i]--
		if left[i] < 0 {
			violates = true
			if w.toFirst() {
				break
			}
		}
	}
	return violates
}

// toFirst: "ChargeByMode: as built in v1.37 in ModeInPlace (ChargeToFirstViolated), else ChargeToAll."
func (w *world) toFirst() bool {
	if w.config.Charge == placement.ChargeByMode {
		return w.config.Mode == placement.ModeInPlace
	}
	return w.config.Charge == placement.ChargeToFirstViolated
}
