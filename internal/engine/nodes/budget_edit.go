package nodes

import (
	"reflect"
	"slices"

	"github.com/cedesched/cede/preemption/fault"
	"github.com/cedesched/cede/workload"
)

// A budget has a slot that it keeps, so that an edit changes only the pods that it covers, or
// covered. Who they are is found once for all budget edits in a row, by SettleBudgets.

// staleBudget is a slot whose budget covers other pods than before.
type staleBudget struct {
	slot      int32
	namespace string
}

// SetBudget adds a budget or replaces the one with that namespace and name.
func (c *Cluster) SetBudget(path string, b workload.DisruptionBudget) fault.List {
	var f validator
	if f.all(b.Validate(path)); f.List != nil {
		return f.List
	}
	at, found := c.findBudget(keyOf(&b))
	c.budgets = slices.Clone(c.budgets)
	if found {
		old := &c.budgets[c.byName[at]]
		same := reflect.DeepEqual(old.Facts.Selector, b.Selector) && old.Facts.LabelledOnly == b.LabelledOnly
		if *old = newBudget(b); !same {
			c.outdate(c.byName[at], b.Namespace)
		}
		return nil
	}
	slot := slices.IndexFunc(c.budgets, func(b budget) bool { return b.free })
	if slot < 0 {
		slot, c.budgets = len(c.budgets), append(c.budgets, budget{})
	}
	c.budgets[slot] = newBudget(b)
	c.byName = slices.Insert(slices.Clip(c.byName), at, int32(slot))
	c.outdate(int32(slot), b.Namespace)
	return nil
}

// RemoveBudget removes a budget.
func (c *Cluster) RemoveBudget(path, namespace, name string) fault.List {
	var f validator
	at, found := c.findBudget(budgetKey{namespace, name})
	if !found {
		f.Add(path, "no budget %v", budgetKey{namespace, name})
		return f.List
	}
	slot := c.byName[at]
	c.budgets = slices.Clone(c.budgets)
	c.budgets[slot] = budget{free: true}
	c.byName = slices.Delete(slices.Clone(c.byName), at, at+1)
	c.outdate(slot, namespace)
	return nil
}

func (c *Cluster) findBudget(key budgetKey) (at int, found bool) {
	return slices.BinarySearchFunc(c.byName, key, func(slot int32, k budgetKey) int {
		return keyOf(&c.budgets[slot].Facts).compare(k)
	})
}

func (c *Cluster) outdate(slot int32, namespace string) {
	c.stale = append(slices.Clip(c.stale), staleBudget{slot, namespace})
}

// SettleBudgets finds the pods that changed budgets cover now, or covered before. It looks at
// every pod of the cluster and replaces those.
func (c *Cluster) SettleBudgets() {
	stale := c.stale
	c.stale = nil
	if len(stale) == 0 {
		return
	}
	swaps := map[*Pod]*Pod{}
	var groups []string
	for _, number := range c.order {
		n := c.nodes.At(int(number))
		var pods []*Pod
		for i, p := range n.pods {
			if !slices.ContainsFunc(stale, func(b staleBudget) bool { return c.coversOtherwise(b, p) }) {
				continue
			}
			if pods == nil {
				pods = slices.Clone(n.pods)
			}
			pods[i] = c.recovered(p)
			if swaps[p] = pods[i]; p.Facts.Group != "" && !slices.Contains(groups, p.Facts.Group) {
				groups = append(groups, p.Facts.Group)
			}
			c.swap(p, pods[i])
		}
		if pods != nil {
			c.nodes = c.nodes.Set(int(number), n.recovered(pods))
		}
	}
	for _, id := range groups {
		g := c.group(id)
		members := slices.Clone(g.members)
		for i, p := range members {
			if next := swaps[p]; next != nil {
				members[i] = next
			}
		}
		c.replaceGroup(g, newGroup(g.Facts, g.known, members))
	}
}

// coversOtherwise reports whether a budget covers a pod and did not, or the reverse.
func (c *Cluster) coversOtherwise(b staleBudget, p *Pod) bool {
	if p.Facts.Namespace != b.namespace {
		return false
	}
	now := &c.budgets[b.slot]
	covers := !now.free && now.Facts.Namespace == b.namespace && now.Facts.Covers(&p.Facts)
	return covers != slices.Contains(p.budgets, b.slot)
}

// recovered returns a copy of a running pod with the budgets that cover it now.
func (c *Cluster) recovered(p *Pod) *Pod {
	a := &alone{pod: *p}
	next := &a.pod
	next.takes, next.budgets = append(a.takes[:0], p.takes...), c.covering(a.budgets[:0], &p.Facts)
	if p.single != nil {
		a.list[0] = next
		a.unit.fill("", a.list[:])
		next.single = &a.unit
	}
	return next
}

// swap replaces a pod in the indexes, but for its node and group.
func (c *Cluster) swap(p, next *Pod) {
	c.pods = c.pods.Set(next)
	if p.single != nil {
		c.cover(p.single, false)
		c.cover(next.single, true)
	}
}

// recovered returns the node with the same pods under other budgets.
func (n *node) recovered(pods []*Pod) *node {
	next := *n
	next.pods, next.levels, next.briefs = pods, slices.Clone(n.levels), slices.Clone(n.briefs)
	for i := range next.levels {
		next.levels[i].covered = false
	}
	for i, p := range pods {
		next.briefs[i] = p.brief()
		l := &next.levels[next.levelOf(p.class())]
		l.covered = l.covered || len(p.budgets) > 0
	}
	return &next
}
