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
// everything once.
func (c *Cluster) Compare(st *State) (d Difference) {
	id := func(p *workload.Pod) string { return p.ID }
	d.Pods = changes(st.Pods, id, c.running, c.facts(c.pods.All), equalPods)
	d.Nominated = changes(st.Nominated, id, func(id string) *workload.Pod { return factsOf(c.pod(c.nominated, id)) }, c.facts(c.nominated.All), equalPods)
	d.Nodes = changes(st.Nodes, func(n *workload.Node) string { return n.Name }, c.nodeFacts, c.allNodes, equalNodes)
	d.Groups = changes(st.Groups, func(g *workload.PodGroup) string { return g.ID }, c.knownGroup, c.knownGroups,
		func(a, b *workload.PodGroup) bool { return *a == *b })
	d.Budgets = changes(st.Budgets, keyOf, c.budgetFacts, c.allBudgets, equalBudgets)
	return d
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

func (c *Cluster) running(id string) *workload.Pod { return factsOf(c.pod(c.pods, id)) }

func (c *Cluster) facts(all iter.Seq[*Pod]) iter.Seq[*workload.Pod] {
	return func(yield func(*workload.Pod) bool) {
		for p := range all {
			if !yield(&p.Facts) {
				return
			}
		}
	}
}

func (c *Cluster) nodeFacts(name string) *workload.Node {
	if at := c.nodeNumber(name); at >= 0 {
		return &c.nodes.At(at).Facts
	}
	return nil
}

func (c *Cluster) allNodes(yield func(*workload.Node) bool) {
	for _, number := range c.order {
		if !yield(&c.nodes.At(int(number)).Facts) {
			return
		}
	}
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

func equalPods(a, b *workload.Pod) bool {
	return a.ID == b.ID && a.UID == b.UID && a.Namespace == b.Namespace && a.Group == b.Group && a.Priority == b.Priority &&
		a.Node == b.Node && a.Nowhere == b.Nowhere && a.Terminating == b.Terminating && a.Preempted == b.Preempted &&
		a.MinRuntime == b.MinRuntime && a.Started.Equal(b.Started) && a.TerminatingSince.Equal(b.TerminatingSince) &&
		maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Requests, b.Requests) && slices.Equal(a.Nodes, b.Nodes)
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
