package reference

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Column is the number of a flavor and resource in a [Tree].
type Column int

// Tree is the quota tree of a state.
type Tree struct {
	Columns   []quota.FlavorResource
	all       []Column
	numbers   map[quota.FlavorResource]Column
	resource  []int // by column: the number of its resource
	resources int
	Queues    map[string]*Node
	cohorts   map[string]*Node
}

// Node is a queue or a cohort. Lists are by column.
type Node struct {
	Name     string
	Queue    *queue.Queue // nil for a cohort
	Parent   *Node
	Children []*Node // queues before cohorts, by name
	Quotas   []quota.Quota
	// Used is what the workloads of a queue take; of a cohort, what its members use beyond their local quotas.
	// Both include what is reserved.
	Used    []int64
	Subtree []int64 // the own nominal quota and what the members lend
	held    []bool  // the node or one below it has a quota

	parent     string
	reserved   []quota.Amount
	weight     float64
	minRuntime minruntime.Settings
	tree       *Tree
	lendable   []int64 // by resource: what the members of a cohort could use together; nil until it is asked for
}

func newTree(st *preemption.State, columns []quota.FlavorResource) *Tree {
	t := &Tree{Columns: columns, numbers: map[quota.FlavorResource]Column{}, Queues: map[string]*Node{}, cohorts: map[string]*Node{}}
	numbers := map[string]int{}
	for i, fr := range columns {
		if _, known := numbers[fr.Resource]; !known {
			numbers[fr.Resource] = len(numbers)
		}
		t.numbers[fr], t.all = Column(i), append(t.all, Column(i))
		t.resource = append(t.resource, numbers[fr.Resource])
	}
	t.resources = len(numbers)
	var all []*Node
	for i := range st.Queues {
		q := &st.Queues[i]
		n := t.node(q.Name, q.Quotas)
		n.Queue, n.parent, n.reserved, n.weight, n.minRuntime = q, q.Cohort, q.Reserved, q.FairWeight.Or(1), q.MinRuntime
		t.Queues[q.Name], all = n, append(all, n)
	}
	for i := range st.Cohorts {
		c := &st.Cohorts[i]
		n := t.node(c.Name, c.Quotas)
		n.parent, n.reserved, n.weight, n.minRuntime = c.Parent, c.Reserved, c.FairWeight.Or(1), c.MinRuntime
		t.cohorts[c.Name], all = n, append(all, n)
	}
	slices.SortStableFunc(all, func(a, b *Node) int {
		return cmp.Or(first(a.Queue != nil, b.Queue != nil), cmp.Compare(a.Name, b.Name))
	})
	for _, n := range all {
		if n.Parent = t.cohorts[n.parent]; n.Parent != nil {
			n.Parent.Children = append(n.Parent.Children, n)
		}
	}
	for _, n := range all {
		if n.Parent == nil {
			n.sumUp()
		}
	}
	for _, n := range all {
		for _, a := range n.reserved {
			n.move(t.numbers[a.FlavorResource()], a.Amount)
		}
	}
	return t
}

func (t *Tree) node(name string, quotas []quota.Quota) *Node {
	width := len(t.Columns)
	n := &Node{
		Name: name, tree: t, Quotas: make([]quota.Quota, width), Used: make([]int64, width), Subtree: make([]int64, width),
		held: make([]bool, width),
	}
	for _, q := range quotas {
		c := t.numbers[q.FlavorResource()]
		n.Quotas[c], n.held[c] = q, true
	}
	return n
}

// sumUp computes the quotas of a subtree: subtreeQuota(cohort) = nominal + Σ members (subtreeQuota − localQuota).
func (n *Node) sumUp() {
	for _, child := range n.Children {
		child.sumUp()
	}
	for c := range n.Subtree {
		n.Subtree[c] = n.Quotas[c].Nominal
		for _, child := range n.Children {
			n.Subtree[c] = quota.Add(n.Subtree[c], child.Lends(Column(c)))
			n.held[c] = n.held[c] || child.held[c]
		}
	}
}

// Lends returns the part of its quota that a node leaves to its parent.
func (n *Node) Lends(c Column) int64 {
	return min(n.Subtree[c], n.Quotas[c].LendingLimit.Or(quota.Unlimited))
}

// local returns the part that it does not leave: localQuota = max(0, subtreeQuota − lendingLimit).
func (n *Node) local(c Column) int64 {
	if limit, ok := n.Quotas[c].LendingLimit.Get(); ok {
		return max(0, quota.Sub(n.Subtree[c], limit))
	}
	return 0
}

// Beyond returns what a node uses of its parent.
func (n *Node) Beyond(c Column) int64 { return max(0, quota.Sub(n.Used[c], n.local(c))) }

// LocalLeft returns what is left of the local quota.
func (n *Node) LocalLeft(c Column) int64 { return max(0, quota.Sub(n.local(c), n.Used[c])) }

// move adds to the usage of a node and of the nodes above it. A valid state uses at most [quota.MaxUsage].
func (n *Node) move(c Column, amount int64) {
	for n != nil && amount != 0 {
		before := n.Beyond(c)
		n.Used[c] += amount
		amount = n.Beyond(c) - before
		n = n.Parent
	}
}

// Available returns what a node can still take, and the nearest node at or above it that sets this.
func (n *Node) Available(c Column) (amount int64, bound *Node) {
	if n.Parent == nil {
		return quota.Sub(n.Subtree[c], n.Used[c]), n
	}
	amount, bound = n.Parent.Available(c)
	if through := n.Through(c); through <= amount {
		amount, bound = through, n
	}
	return quota.Add(n.LocalLeft(c), amount), bound
}

// Through returns what may still come to a node from its parent.
func (n *Node) Through(c Column) int64 {
	if limit, ok := n.Quotas[c].BorrowingLimit.Get(); ok {
		return quota.Add(quota.Sub(n.Lends(c), n.Beyond(c)), limit)
	}
	return quota.Unlimited
}

// potential returns what a node could use if nothing ran.
func (n *Node) potential(c Column) int64 {
	if n.Parent == nil {
		return n.Subtree[c]
	}
	most := quota.Unlimited
	if limit, ok := n.Quotas[c].BorrowingLimit.Get(); ok {
		most = quota.Add(n.Subtree[c], limit)
	}
	return min(most, quota.Add(n.local(c), n.Parent.potential(c)))
}

// borrows reports whether a node uses more than its quota of one of the columns.
func (n *Node) borrows(columns []Column) bool {
	return slices.ContainsFunc(columns, func(c Column) bool { return n.Used[c] > n.Subtree[c] })
}

// height is that of the subtree: 0 for a queue.
func (n *Node) height() (h int) {
	for _, child := range n.Children {
		h = max(h, child.height()+1)
	}
	return h
}

func (n *Node) root() *Node {
	for n.Parent != nil {
		n = n.Parent
	}
	return n
}

// IsUnder reports whether a node is another one or below it.
func (n *Node) IsUnder(above *Node) bool {
	for ; n != nil; n = n.Parent {
		if n == above {
			return true
		}
	}
	return false
}

// common returns the lowest cohort above both of two queues; nil if they are one queue, or in different trees.
func common(a, b *Node) *Node {
	if a == b {
		return nil
	}
	for a = a.Parent; a != nil && !b.IsUnder(a); {
		a = a.Parent
	}
	return a
}

// Common returns the lowest cohort above the queue of a workload and the preemptor's; nil in that queue and in other
// trees.
func (q *usage) Common(r *Running) *Node { return common(q.Queue, r.At) }

// first orders what a condition holds for before the rest.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
