package state

import (
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/workload"
)

// A budget keeps its slot, so that an edit changes only the pods that the budget begins or ceases to cover.
// SettleBudgets finds these pods once for all budget edits in a row.

// SetBudget adds a budget or replaces the one with that namespace and name.
func (e *Edit) SetBudget(b workload.DisruptionBudget) fault.List {
	if e.All(b.Validate(e.path)); e.List != nil {
		return e.List
	}
	c := e.c
	at, found := c.findBudget(keyOf(&b))
	if c.ownBudgets(); found {
		old := &c.Budgets[c.BudgetOrder[at]]
		same := equalSelectors(old.Facts.Selector, b.Selector) && old.Facts.LabelledOnly == b.LabelledOnly
		if *old = newBudget(b); !same {
			c.markStale(c.BudgetOrder[at], b.Namespace)
		}
		return nil
	}
	slot := c.freeSlot()
	if slot == len(c.Budgets) {
		c.Budgets = append(c.Budgets, Budget{})
	}
	c.Budgets[slot] = newBudget(b)
	c.BudgetOrder = slices.Insert(slices.Clip(c.BudgetOrder), at, int32(slot))
	c.markStale(int32(slot), b.Namespace)
	return nil
}

// ownBudgets copies the budgets, once for all budget edits in a row.
func (c *Cluster) ownBudgets() {
	if !c.owned {
		c.Budgets, c.owned = slices.Clone(c.Budgets), true
	}
}

// freeSlot returns a slot without a budget. One that an edit in this row freed is not taken: pods would keep it
// among their budgets in the place of the budget that is gone.
func (c *Cluster) freeSlot() int {
	for slot := range c.Budgets {
		if c.Budgets[slot].free && !slices.ContainsFunc(c.stale, func(b staleBudget) bool { return int(b.slot) == slot }) {
			return slot
		}
	}
	return len(c.Budgets)
}

// RemoveBudget removes a budget.
func (e *Edit) RemoveBudget(namespace, name string) fault.List {
	c, key := e.c, budgetKey{namespace, name}
	at, found := c.findBudget(key)
	if !found {
		e.Add(e.path, "no budget %v", key)
		return e.List
	}
	slot := c.BudgetOrder[at]
	c.ownBudgets()
	c.Budgets[slot] = Budget{free: true}
	c.BudgetOrder = slices.Delete(slices.Clone(c.BudgetOrder), at, at+1)
	c.markStale(slot, namespace)
	return nil
}

func (c *Cluster) markStale(slot int32, namespace string) {
	c.stale = append(slices.Clip(c.stale), staleBudget{slot, namespace})
}

// SettleBudgets makes the pods anew that changed budgets begin or cease to cover. It looks at every pod of the
// cluster.
func (c *Cluster) SettleBudgets() {
	if c.owned = false; len(c.stale) == 0 {
		return
	}
	changed := c.coverageChanged()
	c.asked, c.stale = c.asked.with(c.Budgets, c.stale), nil
	e := c.Edit("") // it finds no faults: the pods use what they used
	for _, p := range changed {
		e.detach(c.Pod(p.Facts.ID)) // removing the ones before may have moved the surplus
		e.attach(p.Facts)
	}
}

// coverageChanged lists the pods that a stale budget begins or ceases to cover.
func (c *Cluster) coverageChanged() (changed []*Pod) {
	isStale := make([]bool, len(c.Budgets))
	for _, b := range c.stale {
		isStale[b.slot] = true
	}
	indexes, covering := budgetIndexes(nil).with(c.Budgets, c.stale), []int32(nil)
	for _, number := range c.Order {
		for _, p := range c.Node(number).Pods {
			if _, changes := indexes[p.Facts.Namespace]; !changes {
				continue
			}
			left := 0 // stale budgets that covered the pod
			for _, slot := range p.Budgets {
				if isStale[slot] {
					left++
				}
			}
			covering = indexes.covering(c.Budgets, covering[:0], &p.Facts)
			if len(covering) != left || slices.ContainsFunc(covering, func(slot int32) bool { return !slices.Contains(p.Budgets, slot) }) {
				changed = append(changed, p)
			}
		}
	}
	return changed
}
