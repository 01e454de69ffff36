package state

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/internal/base/difference"
	"github.com/cedesched/cede/workload"
)

// Difference is what a state has that a cluster has not, and the reverse.
type Difference struct {
	Pods, Nominated Changes[workload.Pod]
	Nodes           Changes[workload.Node]
	// Groups are in the order in which they can be removed and set: see compareGroups.
	Groups  Changes[workload.PodGroup]
	Budgets Changes[workload.DisruptionBudget]
	Claims  Changes[workload.Claim]
}

// Compare compares a state with the cluster, by value; times as instants. It looks at everything once. For the order
// and the other results see comparePods.
func (c *Cluster) Compare(st *State, order []*Pod) (d Difference, equal []*Pod, inOrder bool) {
	d.Pods, equal, inOrder = c.comparePods(st.Pods, order)
	d.Nodes = c.compareNodes(st.Nodes)
	var promised []*workload.Pod
	for p := range c.Promised.All {
		promised = append(promised, &p.Facts)
	}
	d.Nominated = changes(promised, st.Nominated, func(p *workload.Pod) string { return p.ID },
		func(a, b *workload.Pod) bool { return (&Pod{Facts: *a}).equals(b) })
	d.Groups = c.compareGroups(st.Groups)
	var budgets []*workload.DisruptionBudget
	for _, slot := range c.BudgetOrder {
		budgets = append(budgets, &c.Budgets[slot].Facts)
	}
	d.Budgets = changes(budgets, st.Budgets, keyOf, equalBudgets)
	var claims []*workload.Claim
	for k := range c.claims.All {
		claims = append(claims, &k.Facts)
	}
	d.Claims = changes(claims, st.Claims, claimID, func(a, b *workload.Claim) bool { return maps.Equal(a.Requests, b.Requests) })
	return d, equal, inOrder
}

// changes compares a list with what is there.
func changes[F any, K comparable](there []*F, list []F, key func(*F) K, equal func(a, b *F) bool) Changes[F] {
	return difference.Between(len(there), func(i int) *F { return there[i] }, list, key, equal)
}

// Valid reports whether no two things of a kind have the same name and no pod of the state both runs and is
// nominated, as far as it changed.
func (d *Difference) Valid(c *Cluster) bool {
	if d.Pods.Repeated || d.Nominated.Repeated || d.Nodes.Repeated || d.Groups.Repeated || d.Budgets.Repeated || d.Claims.Repeated {
		return false
	}
	gone := map[string]bool{}
	for _, p := range d.Nominated.Gone {
		gone[p.ID] = true
	}
	return !slices.ContainsFunc(d.Pods.Come, func(p *workload.Pod) bool { return c.PromisedPod(p.ID) != nil && !gone[p.ID] })
}

// compareNodes compares a list with the nodes. A node that follows by name on the node before is not looked up.
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
	return a.Name == b.Name && a.Unschedulable == b.Unschedulable &&
		maps.Equal(a.Capacity, b.Capacity) && maps.Equal(a.Labels, b.Labels)
}

func equalBudgets(a, b *workload.DisruptionBudget) bool {
	return keyOf(a) == keyOf(b) && a.Allowed == b.Allowed && a.LabelledOnly == b.LabelledOnly &&
		slices.Equal(a.Disrupted, b.Disrupted) && equalSelectors(a.Selector, b.Selector)
}

func equalSelectors(a, b *workload.LabelSelector) bool {
	if a == nil || b == nil {
		return a == b
	}
	equal := func(x, y workload.LabelRequirement) bool {
		return x.Key == y.Key && x.Operator == y.Operator && slices.Equal(x.Values, y.Values)
	}
	return maps.Equal(a.MatchLabels, b.MatchLabels) && slices.EqualFunc(a.MatchExpressions, b.MatchExpressions, equal)
}
