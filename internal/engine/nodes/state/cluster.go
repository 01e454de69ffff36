package state

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/persist/ordered"
	"github.com/cedesched/cede/internal/persist/trie"
	"github.com/cedesched/cede/internal/persist/vector"
	"github.com/cedesched/cede/workload"
)

// Cluster holds nodes, what runs on them, groups, budgets and nominations. Persistent containers share what an edit
// does not change. A cluster of a snapshot is immutable.
type Cluster struct {
	Columns     *Columns
	Running     trie.Map[*Pod] // by ID
	Promised    trie.Map[*Pod] // waiting pods that are nominated, by ID
	Order       []int32        // numbers of nodes, by name
	Budgets     []Budget       // by slot
	BudgetOrder []int32        // slots of budgets, by namespace and name
	asked       budgetIndexes  // without changes of stale budgets

	nodes   vector.Vector[*Node] // by number; nil: the number is free
	numbers trie.Map[numbered]   // by name
	free    []int32              // numbers of removed nodes
	groups  trie.Map[*Group]     // in the state, or named by a running pod; by ID
	stale   []staleBudget        // budgets of which the pods are to be found; empty in a snapshot
	owned   bool                 // Budgets is no other cluster's; false in a snapshot
	gone    []*Pod               // removed pods that their nodes still have; empty in a snapshot
	// levels holds the priorities of running pods, rising, with the number of pods.
	levels ordered.Set[levelCount, none]
	claims trie.Map[*Claim] // by ID
	// covered holds the units that a budget covers, most important first. A group of which some pods terminate has
	// two units: with all its pods, and without the terminating ones. byBudget holds the same units by budget.
	covered  ordered.Set[*Unit, none]
	byBudget ordered.Set[coverage, none]
	minimums int // running pods with a minimum runtime, their own or that of their group
	shared   int // running pods that several budgets cover
}

// numbered is the number of a node.
type numbered struct {
	name   string
	number int32
}

func (n numbered) id() string { return n.name }

// levelCount is a number of running pods of one priority.
type levelCount struct {
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

// staleBudget is a slot of which the budget has changed its namespace or selector.
type staleBudget struct {
	slot      int32
	namespace string
}

var (
	unitOrder     = &ordered.Order[*Unit, none]{Compare: CompareUnits}
	coverageOrder = &ordered.Order[coverage, none]{Compare: func(a, b coverage) int {
		if a.slot != b.slot {
			return cmp.Compare(a.slot, b.slot)
		}
		return CompareUnits(a.unit, b.unit)
	}}
	levelOrder = &ordered.Order[levelCount, none]{Compare: func(a, b levelCount) int { return cmp.Compare(a.priority, b.priority) }}
)

// Node returns the node with a number.
func (c *Cluster) Node(number int32) *Node { return c.nodes.At(int(number)) }

// Numbers returns how many numbers of nodes there are. Some may be free.
func (c *Cluster) Numbers() int { return c.nodes.Len() }

// NodeName returns the name of a node.
func (c *Cluster) NodeName(number int32) string { return c.Node(number).Facts.Name }

// NodeNumber returns the number of a node; -1: no node has the name.
func (c *Cluster) NodeNumber(name string) int32 {
	if n, ok := c.numbers.Get(name); ok {
		return n.number
	}
	return -1
}

// Group returns a group, also one that only running pods name; nil: there is none.
func (c *Cluster) Group(id string) *Group {
	g, _ := c.groups.Get(id)
	return g
}

// KnownGroup returns a group of the state; nil: there is none.
func (c *Cluster) KnownGroup(id string) *Group {
	if g := c.Group(id); g != nil && g.Known {
		return g
	}
	return nil
}

// Pod returns a running pod; nil: there is none.
func (c *Cluster) Pod(id string) *Pod {
	p, _ := c.Running.Get(id)
	return p
}

// PromisedPod returns a waiting pod that is nominated; nil: there is none.
func (c *Cluster) PromisedPod(id string) *Pod {
	p, _ := c.Promised.Get(id)
	return p
}

// UnitOf returns the unit of a running pod, with its terminating pods.
func (c *Cluster) UnitOf(p *Pod) *Unit {
	if p.Single != nil {
		return p.Single
	}
	return p.UnitIn(c.YieldsWith(p.Facts.Group), false)
}

// Units returns the units that run, the most important first.
func (c *Cluster) Units() []*Unit {
	var units []*Unit
	for p := range c.Running.All {
		if u := c.UnitOf(p); u.Pods[0] == p {
			units = append(units, u)
		}
	}
	slices.SortFunc(units, CompareUnits)
	return units
}

// LevelsBelow appends the priorities of running pods below a priority to list, rising.
func (c *Cluster) LevelsBelow(list []int32, priority int32) []int32 {
	var cursor ordered.Cursor[levelCount, none]
	cursor.First(c.levels)
	for l, ok := cursor.Item(); ok && l.priority < priority; l, ok = cursor.Item() {
		list = append(list, l.priority)
		cursor.Next()
	}
	return list
}

// CoveredBelow visits the units of lower priority that a budget covers, most important first, until visit returns
// false. Some of them have terminating pods that a decision does not count: see [Pod.UnitIn].
func (c *Cluster) CoveredBelow(priority int32, visit func(*Unit) bool) {
	var cursor ordered.Cursor[*Unit, none]
	cursor.Seek(c.covered, func(u *Unit) bool { return u.Priority >= priority })
	for u, ok := cursor.Item(); ok && visit(u); u, ok = cursor.Item() {
		cursor.Next()
	}
}

// CoveredBy is [Cluster.CoveredBelow] for one budget.
func (c *Cluster) CoveredBy(slot, priority int32, visit func(*Unit) bool) {
	var cursor ordered.Cursor[coverage, none]
	cursor.Seek(c.byBudget, func(x coverage) bool { return x.slot < slot || x.slot == slot && x.unit.Priority >= priority })
	for x, ok := cursor.Item(); ok && x.slot == slot && visit(x.unit); x, ok = cursor.Item() {
		cursor.Next()
	}
}

// HasMinimums reports whether a running pod has a minimum runtime, its own or that of its group.
func (c *Cluster) HasMinimums() bool { return c.minimums > 0 }

// SharesPods reports whether several budgets cover a running pod.
func (c *Cluster) SharesPods() bool { return c.shared > 0 }

// newPod makes a pod on the node with that number. It keeps facts, which must be a copy.
func (c *Cluster) newPod(facts workload.Pod, number int32, g *Group) *Pod {
	made := &podWithUnit{unitPod: unitPod{pod: Pod{Facts: facts, Node: number}}}
	p := &made.pod
	p.Takes, p.Budgets = c.Columns.takes(made.takes[:0], facts.Requests), c.covering(made.budgets[:0], &p.Facts)
	if p.belong(g); g.isAlone() {
		made.makeUnit()
	}
	return p
}
