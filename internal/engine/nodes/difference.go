package nodes

import (
	"iter"
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

// Changes is the difference between two lists of one kind. The cluster's values must not be
// changed.
type Changes[F any] struct {
	Gone      []*F // of the cluster
	Old, Come []*F // of the list: new or changed, with what they change; Old is nil for a new one
	Twice     bool // two in the list have the same name
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
	if d.Pods.Twice || d.Nominated.Twice || d.Nodes.Twice || d.Groups.Twice || d.Budgets.Twice {
		return false
	}
	gone := map[string]bool{}
	for _, p := range d.Nominated.Gone {
		gone[p.ID] = true
	}
	return !slices.ContainsFunc(d.Pods.Come, func(p *workload.Pod) bool { return c.pod(c.nominated, p.ID) != nil && !gone[p.ID] })
}

// changes compares a list with what is there.
func changes[F any, K comparable](list []F, key func(*F) K, find func(K) *F, all iter.Seq[*F], equal func(a, b *F) bool) (d Changes[F]) {
	seen, added := make(map[*F]bool, len(list)), map[K]bool{}
	for i := range list {
		k := key(&list[i])
		old := find(k)
		if old == nil {
			d.Twice = d.Twice || added[k]
			added[k] = true
		} else {
			d.Twice = d.Twice || seen[old]
			seen[old] = true
		}
		if old == nil || !equal(old, &list[i]) {
			d.Old, d.Come = append(d.Old, old), append(d.Come, &list[i])
		}
	}
	for old := range all {
		if !seen[old] {
			d.Gone = append(d.Gone, old)
		}
	}
	return d
}

func factsOf(p *Pod) *workload.Pod {
	if p == nil {
		return nil
	}
	return &p.Facts
}

func (c *Cluster) promised(id string) *workload.Pod { return factsOf(c.pod(c.nominated, id)) }

func (c *Cluster) allPromised(yield func(*workload.Pod) bool) {
	for p := range c.nominated.All {
		if !yield(&p.Facts) {
			return
		}
	}
}

// compareNodes compares a list with the nodes. One that follows by name on the one before is
// not looked up.
func (c *Cluster) compareNodes(list []workload.Node) (d Changes[workload.Node]) {
	met, added, next := make([]bool, c.nodes.Len()), map[string]bool{}, 0
	for i := range list {
		name, number := list[i].Name, -1
		if next < len(c.order) && c.NodeName(c.order[next]) == name {
			number = int(c.order[next])
			next++
		} else if number = c.nodeNumber(name); number < 0 {
			d.Twice = d.Twice || added[name]
			added[name] = true
			d.Old, d.Come = append(d.Old, nil), append(d.Come, &list[i])
			continue
		} else {
			next, _ = after(c.order, next, int32(number))
		}
		d.Twice = d.Twice || met[number]
		met[number] = true
		if old := &c.nodes.At(number).Facts; !equalNodes(old, &list[i]) {
			d.Old, d.Come = append(d.Old, old), append(d.Come, &list[i])
		}
	}
	for _, number := range c.order {
		if !met[number] {
			d.Gone = append(d.Gone, &c.nodes.At(int(number)).Facts)
		}
	}
	return d
}

func (c *Cluster) knownGroup(id string) *workload.PodGroup {
	if g := c.group(id); g != nil && g.known {
		return &g.Facts
	}
	return nil
}

func (c *Cluster) knownGroups(yield func(*workload.PodGroup) bool) {
	for g := range c.groups.All {
		if g.known && !yield(&g.Facts) {
			return
		}
	}
}

func (c *Cluster) budgetFacts(key budgetKey) *workload.DisruptionBudget {
	if at, found := c.findBudget(key); found {
		return &c.budgets[c.byName[at]].Facts
	}
	return nil
}

func (c *Cluster) allBudgets(yield func(*workload.DisruptionBudget) bool) {
	for _, slot := range c.byName {
		if !yield(&c.budgets[slot].Facts) {
			return
		}
	}
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
