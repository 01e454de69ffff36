package state

import (
	"reflect"
	"slices"

	"github.com/cedesched/cede/preemption/fault"
	"github.com/cedesched/cede/workload"
)

// A budget keeps its slot, so that an edit changes only the pods that the budget begins or ceases
// to cover. SettleBudgets finds these pods once for all budget edits in a row.

// SetBudget adds a budget or replaces the one with that namespace and name.
func (e *Edit) SetBudget(b workload.DisruptionBudget) fault.List {
	if e.All(b.Validate(e.path)); e.List != nil {
		return e.List
	}
	c := e.c
	at, found := c.findBudget(keyOf(&b))
	c.Budgets = slices.Clone(c.Budgets)
	if found {
		old := &c.Budgets[c.BudgetOrder[at]]
		same := reflect.DeepEqual(old.Facts.Selector, b.Selector) && old.Facts.LabelledOnly == b.LabelledOnly
		if *old = newBudget(b); !same {
			c.markStale(c.BudgetOrder[at], b.Namespace)
		}
		return nil
	}
	slot := slices.IndexFunc(c.Budgets, func(b Budget) bool { return b.free })
	if slot < 0 {
		slot, c.Budgets = len(c.Budgets), append(c.Budgets, Budget{})
	}
	c.Budgets[slot] = newBudget(b)
	c.BudgetOrder = slices.Insert(slices.Clip(c.BudgetOrder), at, int32(slot))
	c.markStale(int32(slot), b.Namespace)
	return nil
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
	c.Budgets = slices.Clone(c.Budgets)
	c.Budgets[slot] = Budget{free: true}
	c.BudgetOrder = slices.Delete(slices.Clone(c.BudgetOrder), at, at+1)
	c.markStale(slot, namespace)
	return nil
}

func (c *Cluster) markStale(slot int32, namespace string) {
	c.stale = append(slices.Clip(c.stale), staleBudget{slot, namespace})
}

// SettleBudgets makes the pods anew that changed budgets begin or cease to cover. It looks at every
// pod of the cluster.
func (c *Cluster) SettleBudgets() {
	stale := c.stale
	c.stale = nil
	if len(stale) == 0 {
		return
	}
	swaps := map[*Pod]*Pod{}
	var groups []string
	for _, number := range c.Order {
		n := c.Node(number)
		var pods []*Pod
		for i, p := range n.Pods {
			if !slices.ContainsFunc(stale, func(b staleBudget) bool { return c.coverageChanged(b, p) }) {
				continue
			}
			if pods == nil {
				pods = slices.Clone(n.Pods)
			}
			pods[i] = c.coverAnew(p)
			if swaps[p] = pods[i]; p.Facts.Group != "" && !slices.Contains(groups, p.Facts.Group) {
				groups = append(groups, p.Facts.Group)
			}
			c.swap(p, pods[i])
		}
		if pods != nil {
			c.nodes = c.nodes.Set(int(number), n.withCoverage(pods))
		}
	}
	for _, id := range groups {
		g := c.Group(id)
		members := slices.Clone(g.Members)
		for i, p := range members {
			if next := swaps[p]; next != nil {
				members[i] = next
			}
		}
		c.replaceGroup(g, newGroup(g.Facts, g.Known, members))
	}
}

// coverageChanged reports whether a budget begins or ceases to cover a pod.
func (c *Cluster) coverageChanged(b staleBudget, p *Pod) bool {
	if p.Facts.Namespace != b.namespace {
		return false
	}
	next := &c.Budgets[b.slot]
	covers := !next.free && next.Facts.Namespace == b.namespace && next.Facts.Covers(&p.Facts)
	return covers != slices.Contains(p.Budgets, b.slot)
}

// coverAnew returns a copy of a running pod with the budgets of the cluster that cover it.
func (c *Cluster) coverAnew(p *Pod) *Pod {
	made := &podWithUnit{unitPod: unitPod{pod: *p}}
	next := &made.pod
	next.Takes, next.Budgets = append(made.takes[:0], p.Takes...), c.covering(made.budgets[:0], &p.Facts)
	if p.Single != nil {
		made.makeUnit()
	}
	return next
}

// withCoverage returns the node with the same pods under other budgets.
func (n *Node) withCoverage(pods []*Pod) *Node {
	next := *n
	next.Pods, next.Levels, next.Briefs = pods, slices.Clone(n.Levels), slices.Clone(n.Briefs)
	for i := range next.Levels {
		next.Levels[i].Covered = false
	}
	for i, p := range pods {
		next.Briefs[i] = p.brief()
		l := &next.Levels[next.levelOf(p.Class())]
		l.Covered = l.Covered || len(p.Budgets) > 0
	}
	return &next
}
