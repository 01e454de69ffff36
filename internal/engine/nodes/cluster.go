package nodes

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/persist/ordered"
	"github.com/cedesched/cede/internal/persist/trie"
	"github.com/cedesched/cede/internal/persist/vector"
	"github.com/cedesched/cede/workload"
)

// Cluster holds nodes, what runs on them, groups, budgets and nominations. Persistent
// containers share what an edit does not change. Once it belongs to a snapshot it is
// immutable.
type Cluster struct {
	columns   *columns
	nodes     vector.Vector[*node] // by number; nil: the number is free
	order     []int32              // numbers of nodes, by name
	numbers   trie.Map[numbered]   // by name
	free      []int32              // numbers of nodes that were removed
	pods      trie.Map[*Pod]       // running pods, by ID
	nominated trie.Map[*Pod]       // by ID
	groups    trie.Map[*group]     // in the state, or named by a running pod; by ID
	budgets   []budget             // by slot
	byName    []int32              // slots of budgets, by namespace and name
	stale     []staleBudget        // budgets whose pods are not found yet; empty in a snapshot
	// levels holds the priorities of running pods, rising, with the number of pods.
	levels ordered.Set[priorityCount, none]
	// covered holds the units that a budget covers, most important first. A group of which
	// some pods terminate has two: with all its pods, and without those. byBudget holds the
	// same units by budget.
	covered  ordered.Set[*Unit, none]
	byBudget ordered.Set[coverage, none]
	minimums int // running pods with a minimum runtime, their own or their group's
}

// numbered is a node's number.
type numbered struct {
	name   string
	number int32
}

func (n numbered) id() string { return n.name }

type priorityCount struct {
	priority int32
	pods     int
}

// none is the sum of sets without sums.
type none struct{}

// coverage is a unit that a budget covers.
type coverage struct {
	slot int32 // of the budget
	unit *Unit
}

var (
	unitOrder     = &ordered.Order[*Unit, none]{Compare: compareUnits}
	coverageOrder = &ordered.Order[coverage, none]{Compare: func(a, b coverage) int {
		if a.slot != b.slot {
			return cmp.Compare(a.slot, b.slot)
		}
		return compareUnits(a.unit, b.unit)
	}}
	levelOrder = &ordered.Order[priorityCount, none]{Compare: func(a, b priorityCount) int { return cmp.Compare(a.priority, b.priority) }}
)

func (p *Pod) id() string   { return p.Facts.ID }
func (g *group) id() string { return g.Facts.ID }

func comparePods(a, b *Pod) int { return cmp.Compare(a.Facts.ID, b.Facts.ID) }

// State is what a cluster is made of, as plain data.
type State struct {
	Nodes     []workload.Node
	Pods      []workload.Pod
	Nominated []workload.Pod
	Groups    []workload.PodGroup
	Budgets   []workload.DisruptionBudget
}

// State returns a deep copy of the cluster's state: nodes, pods and groups by name or ID,
// budgets by namespace and name.
func (c *Cluster) State() State {
	st := State{Nodes: slices.Collect(c.Nodes()), Pods: slices.Collect(c.Pods())}
	for _, p := range sorted(c.nominated, (*Pod).id) {
		st.Nominated = append(st.Nominated, p.Facts.Clone())
	}
	for _, g := range sorted(c.groups, (*group).id) {
		if g.known {
			st.Groups = append(st.Groups, g.Facts)
		}
	}
	for _, slot := range c.byName {
		st.Budgets = append(st.Budgets, c.budgets[slot].Facts.Clone())
	}
	return st
}

func (c *Cluster) group(id string) *group {
	g, _ := c.groups.Get(id)
	return g
}

func (c *Cluster) pod(in trie.Map[*Pod], id string) *Pod {
	p, _ := in.Get(id)
	return p
}

// nodeNumber returns the number of a node, or -1 if there is none with that name.
func (c *Cluster) nodeNumber(name string) int {
	if n, ok := c.numbers.Get(name); ok {
		return int(n.number)
	}
	return -1
}

// unitOf returns the unit of a running pod. If staying is set, the unit has no terminating
// pods; it is nil if all of them terminate.
func (c *Cluster) unitOf(p *Pod, staying bool) *Unit {
	if p.single != nil {
		return p.unitIn(nil, staying)
	}
	return p.unitIn(c.group(p.Facts.Group), staying)
}

// unitIn is unitOf for a pod of a group, which counts if the pod is no unit by itself.
func (p *Pod) unitIn(g *group, staying bool) *Unit {
	switch {
	case staying && p.Facts.Terminating:
		return nil
	case p.single != nil:
		return p.single
	case staying:
		return g.staying
	}
	return g.whole
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

// Units returns the units that run, the most important first.
func (c *Cluster) Units() []*Unit {
	var units []*Unit
	for p := range c.pods.All {
		if u := c.unitOf(p, false); u.Pods[0] == p {
			units = append(units, u)
		}
	}
	slices.SortFunc(units, compareUnits)
	return units
}

// NodeName returns the name of a node.
func (c *Cluster) NodeName(number int32) string { return c.nodes.At(int(number)).Facts.Name }
