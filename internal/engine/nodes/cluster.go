package nodes

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/persist/ordered"
	"github.com/cedesched/cede/internal/persist/trie"
	"github.com/cedesched/cede/internal/persist/vector"
	"github.com/cedesched/cede/workload"
)

// Cluster is nodes, what runs on them, groups, budgets, promises. Persistent containers
// share what an edit leaves. It is not changed once it is a snapshot's.
type Cluster struct {
	columns   *columns
	names     []string // of nodes, sorted: their numbers
	nodes     vector.Vector[*node]
	pods      trie.Map[*Pod]   // that run, by ID
	nominated trie.Map[*Pod]   // by ID
	groups    trie.Map[*group] // known or named by a pod that runs, by ID
	budgets   []budget         // by namespace and name
	// levels is the priorities of what runs, rising, with the number of pods.
	levels ordered.Set[priorityCount, none]
	// covered is the units that a budget covers, most important first: with all pods, and
	// with those that do not terminate.
	covered, coveredStaying unitSet
	minimums                int // pods that run with a minimum runtime of their own or their group's
}

type priorityCount struct {
	priority int32
	pods     int
}

// none is what the sets here sum up.
type none struct{}

type unitSet = ordered.Set[*Unit, none]

var (
	unitOrder  = &ordered.Order[*Unit, none]{Compare: compareUnits}
	levelOrder = &ordered.Order[priorityCount, none]{Compare: func(a, b priorityCount) int { return cmp.Compare(a.priority, b.priority) }}
)

func (p *Pod) id() string   { return p.Facts.ID }
func (g *group) id() string { return g.Facts.ID }

func comparePods(a, b *Pod) int { return cmp.Compare(a.Facts.ID, b.Facts.ID) }

// State is what a cluster is made of, in plain values.
type State struct {
	Nodes     []workload.Node
	Pods      []workload.Pod
	Nominated []workload.Pod
	Groups    []workload.PodGroup
	Budgets   []workload.DisruptionBudget
}

// State returns a deep copy of what the cluster is made of: nodes, pods and groups by
// name or ID, budgets by namespace and name.
func (c *Cluster) State() State {
	var st State
	for i := range c.nodes.Len() {
		st.Nodes = append(st.Nodes, c.nodes.At(i).Facts.Clone())
	}
	for _, p := range sorted(c.pods, (*Pod).id) {
		st.Pods = append(st.Pods, p.Facts.Clone())
	}
	for _, p := range sorted(c.nominated, (*Pod).id) {
		st.Nominated = append(st.Nominated, p.Facts.Clone())
	}
	for _, g := range sorted(c.groups, (*group).id) {
		if g.known {
			st.Groups = append(st.Groups, g.Facts)
		}
	}
	for i := range c.budgets {
		st.Budgets = append(st.Budgets, c.budgets[i].Facts.Clone())
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

// nodeNumber returns the number of a node, -1 if there is none of that name.
func (c *Cluster) nodeNumber(name string) int {
	if at, found := slices.BinarySearch(c.names, name); found {
		return at
	}
	return -1
}

// unitOf is the unit of a pod that runs, without those of its pods that terminate if
// staying is set; nil when that leaves none.
func (c *Cluster) unitOf(p *Pod, staying bool) *Unit {
	switch {
	case staying && p.Facts.Terminating:
		return nil
	case p.single != nil:
		return p.single
	case staying:
		return c.group(p.Facts.Group).staying
	}
	return c.group(p.Facts.Group).whole
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

// Units returns the units of what runs, the most important first.
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
func (c *Cluster) NodeName(number int32) string { return c.names[number] }
