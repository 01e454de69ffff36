package state

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cedesched/cede/workload"
)

// Budget is a disruption budget in a snapshot. It is immutable.
type Budget struct {
	Facts     workload.DisruptionBudget
	disrupted map[string]bool // nil: none
	free      bool            // the slot has no budget
}

func newBudget(facts workload.DisruptionBudget) Budget {
	b := Budget{Facts: facts}
	if len(facts.Disrupted) > 0 {
		b.disrupted = make(map[string]bool, len(facts.Disrupted))
	}
	for _, id := range facts.Disrupted {
		b.disrupted[id] = true
	}
	return b
}

// Charges reports whether the eviction of a pod is charged to the budget: not if the budget counts the pod as
// disrupted already.
func (b *Budget) Charges(p *Pod) bool { return b.disrupted == nil || !b.disrupted[p.Facts.ID] }

// ChargesAll reports whether the budget counts no pod as disrupted.
func (b *Budget) ChargesAll() bool { return b.disrupted == nil }

// budgetKey is the name of a budget in its namespace.
type budgetKey struct{ namespace, name string }

func (k budgetKey) String() string { return fmt.Sprintf("%q of namespace %q", k.name, k.namespace) }

func keyOf(b *workload.DisruptionBudget) budgetKey { return budgetKey{b.Namespace, b.Name} }

func (k budgetKey) compare(other budgetKey) int {
	return cmp.Or(cmp.Compare(k.namespace, other.namespace), cmp.Compare(k.name, other.name))
}

// findBudget returns where a budget is in BudgetOrder, or would be.
func (c *Cluster) findBudget(key budgetKey) (at int, found bool) {
	return slices.BinarySearchFunc(c.BudgetOrder, key, func(slot int32, k budgetKey) int {
		return keyOf(&c.Budgets[slot].Facts).compare(k)
	})
}
