package state

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/workload"
)

// Difference is what a state has that a cluster has not, and the reverse.
type Difference struct {
	Pods, Nominated Changes[workload.Pod]
	Nodes           Changes[workload.Node]
	Groups          Changes[workload.PodGroup]
	Budgets         Changes[workload.DisruptionBudget]
}

// Compare compares a state with the cluster, by value; times as instants. It looks at
// everything once. For the order and the other results see comparePods.
func (c *Cluster) Compare(st *State, order []*Pod) (d Difference, equal []*Pod, inOrder bool) {
	d.Pods, equal, inOrder = c.comparePods(st.Pods, order)
	d.Nominated = changes(st.Nominated, func(p *workload.Pod) string { return p.ID }, c.promised, c.allPromised,
		func(a, b *workload.Pod) bool { return (&Pod{Facts: *a}).equals(b) })
	d.Nodes = c.compareNodes(st.Nodes)
	d.Groups = changes(st.Groups, func(g *workload.PodGroup) string { return g.ID }, c.knownGroup, c.knownGroups,
		func(a, b *workload.PodGroup) bool { return *a == *b })
	d.Budgets = changes(st.Budgets, keyOf, c.budgetFacts, c.allBudgets, equalBudgets)
	return d, equal, inOrder
}

// Valid reports whether no two things of a kind have the same name and no pod of the state
// both runs and is nominated, as far as it changed.
func (d *Difference) Valid(c *Cluster) bool {
	if d.Pods.Repeated || d.Nominated.Repeated || d.Nodes.Repeated || d.Groups.Repeated || d.Budgets.Repeated {
		return false
	}
	gone := map[string]bool{}
	for _, p := range d.Nominated.Gone {
		gone[p.ID] = true
	}
	return !slices.ContainsFunc(d.Pods.Come, func(p *workload.Pod) bool { return c.PromisedPod(p.ID) != nil && !gone[p.ID] })
}

func (c *Cluster) promised(id string) *workload.Pod {
	if p := c.PromisedPod(id); p != nil {
		return &p.Facts
	}
	return nil
}

func (c *Cluster) allPromised(yield func(*workload.Pod) bool) {
	c.Promised.All(func(p *Pod) bool { return yield(&p.Facts) })
}

func (c *Cluster) knownGroup(id string) *workload.PodGroup {
	if g := c.KnownGroup(id); g != nil {
		return &g.Facts
	}
	return nil
}

func (c *Cluster) knownGroups(yield func(*workload.PodGroup) bool) {
	c.groups.All(func(g *Group) bool { return !g.Known || yield(&g.Facts) })
}

func (c *Cluster) budgetFacts(key budgetKey) *workload.DisruptionBudget {
	if at, found := c.findBudget(key); found {
		return &c.Budgets[c.BudgetOrder[at]].Facts
	}
	return nil
}

func (c *Cluster) allBudgets(yield func(*workload.DisruptionBudget) bool) {
	for _, slot := range c.BudgetOrder {
		if !yield(&c.Budgets[slot].Facts) {
			return
		}
	}
}

// compareNodes compares a list with the nodes. A node that follows by name on the node before is
// not looked up.
func (c *Cluster) compareNodes(list []workload.Node) (d Changes[workload.Node]) {
	met, added, next := make([]bool, c.Numbers()), map[string]bool{}, 0
	for i := range list {
		name, number := list[i].Name, int32(-1)
		if next < len(c.Order) && c.NodeName(c.Order[next]) == name {
			number = c.Order[next]
			next++
		} else if number = c.NodeNumber(name); number < 0 {
			d.Repeated = d.Repeated || added[name]
			added[name] = true
			d.Old, d.Come = append(d.Old, nil), append(d.Come, &list[i])
			continue
		} else {
			next, _ = after(c.Order, next, number)
		}
		d.Repeated = d.Repeated || met[number]
		met[number] = true
		if old := &c.Node(number).Facts; !equalNodes(old, &list[i]) {
			d.Old, d.Come = append(d.Old, old), append(d.Come, &list[i])
		}
	}
	for _, number := range c.Order {
		if !met[number] {
			d.Gone = append(d.Gone, &c.Node(number).Facts)
		}
	}
	return d
}

func equalNodes(a, b *workload.Node) bool {
	return a.Name == b.Name && a.Unschedulable == b.Unschedulable && maps.Equal(a.Capacity, b.Capacity) && maps.Equal(a.Labels, b.Labels)
}

func equalBudgets(a, b *workload.DisruptionBudget) bool {
	return keyOf(a) == keyOf(b) && a.Allowed == b.Allowed && a.LabelledOnly == b.LabelledOnly &&
		slices.Equal(a.Disrupted, b.Disrupted) && equalSelectors(a.Selector, b.Selector)
}

func equalSelectors(a, b *workload.LabelSelector) bool {
	if a == nil || b == nil {
		return a == b
	}
	return maps.Equal(a.MatchLabels, b.MatchLabels) && slices.EqualFunc(a.MatchExpressions, b.MatchExpressions, func(x, y workload.LabelRequirement) bool {
		return x.Key == y.Key && x.Operator == y.Operator && slices.Equal(x.Values, y.Values)
	})
}
