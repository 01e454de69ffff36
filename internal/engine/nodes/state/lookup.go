package state

import (
	"cmp"
	"iter"
	"slices"

	"github.com/cedesched/cede/internal/persist/trie"
	"github.com/cedesched/cede/workload"
)

// State is what a cluster is made of, as plain data.
type State struct {
	Nodes     []workload.Node
	Pods      []workload.Pod
	Nominated []workload.Pod
	Groups    []workload.PodGroup
	Budgets   []workload.DisruptionBudget
	Claims    []workload.Claim
}

// State returns a deep copy of the cluster's state: nodes, pods and groups by name or ID, budgets by namespace and
// name, claims by ID.
func (c *Cluster) State() State {
	st := State{Nodes: slices.Collect(c.Nodes()), Pods: slices.Collect(c.Pods())}
	for _, p := range sorted(c.Promised, (*Pod).id) {
		st.Nominated = append(st.Nominated, p.Facts.Clone())
	}
	for _, g := range sorted(c.groups, (*Group).id) {
		if g.Known {
			st.Groups = append(st.Groups, g.Facts)
		}
	}
	for _, slot := range c.BudgetOrder {
		st.Budgets = append(st.Budgets, c.Budgets[slot].Facts.Clone())
	}
	for _, k := range sorted(c.claims, (*Claim).id) {
		st.Claims = append(st.Claims, k.Facts.Clone())
	}
	return st
}

// sorted lists the items of a map by name.
func sorted[T any](m trie.Map[T], name func(T) string) []T {
	list := make([]T, 0, m.Len())
	for item := range m.All {
		list = append(list, item)
	}
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(name(a), name(b)) })
	return list
}

// Nodes iterates over copies of the nodes, by name.
func (c *Cluster) Nodes() iter.Seq[workload.Node] {
	return func(yield func(workload.Node) bool) {
		for _, number := range c.Order {
			if !yield(c.Node(number).Facts.Clone()) {
				return
			}
		}
	}
}

// Pods iterates over copies of the running pods, by ID.
func (c *Cluster) Pods() iter.Seq[workload.Pod] { return podsOf(c.Running) }

// NominatedPods iterates over copies of the waiting pods that are nominated, by ID.
func (c *Cluster) NominatedPods() iter.Seq[workload.Pod] { return podsOf(c.Promised) }

func podsOf(pods trie.Map[*Pod]) iter.Seq[workload.Pod] {
	return func(yield func(workload.Pod) bool) {
		for _, p := range sorted(pods, (*Pod).id) {
			if !yield(p.Facts.Clone()) {
				return
			}
		}
	}
}

// PodsOn iterates over copies of the pods that run on a node, by ID.
func (c *Cluster) PodsOn(node string) iter.Seq[workload.Pod] {
	return func(yield func(workload.Pod) bool) {
		number := c.NodeNumber(node)
		if number < 0 {
			return
		}
		for _, p := range c.Node(number).Pods {
			if !yield(p.Facts.Clone()) {
				return
			}
		}
	}
}

// Terminating lists the IDs of the pods that terminate, by node and ID.
func (c *Cluster) Terminating() []string {
	var ids []string
	for _, number := range c.Order {
		for _, p := range c.Node(number).Pods {
			if p.Facts.Terminating {
				ids = append(ids, p.Facts.ID)
			}
		}
	}
	return ids
}
