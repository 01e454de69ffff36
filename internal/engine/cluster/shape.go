package cluster

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/engine/minimum"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Shape is the configuration with integers in place of names. The nodes of the quota tree are
// numbered: cohorts first, then queues, each sorted by name. A Shape is immutable.
type Shape struct {
	Cohorts []queue.Cohort // node i
	Queues  []queue.Queue  // node len(Cohorts) + i
	Tree    *quotatree.Tree
	// Reserved holds, for each node, what is in use there that no workload accounts for.
	Reserved [][]quotatree.Load
	// Resources names the resources by the numbers of the tree, sorted.
	Resources []string
	// ChildCohorts and ChildQueues hold, for each cohort, its members' nodes in
	// order of name.
	ChildCohorts [][]int32
	ChildQueues  [][]int32
	// Minimum holds the minimum runtimes of the nodes.
	Minimum *minimum.Tree

	cohortAt map[string]int
	queueAt  map[string]int
}

// newShape builds the shape of a valid configuration, and the columns in which the columns of
// its quotas have numbers; see [Columns.configured].
func newShape(cohorts []queue.Cohort, queues []queue.Queue, columns *Columns, users func(column int) int) (*Shape, *Columns, error) {
	s := &Shape{
		Cohorts:      slices.Clone(cohorts),
		Queues:       slices.Clone(queues),
		ChildCohorts: make([][]int32, len(cohorts)),
		ChildQueues:  make([][]int32, len(cohorts)),
		cohortAt:     make(map[string]int, len(cohorts)),
		queueAt:      make(map[string]int, len(queues)),
	}
	slices.SortFunc(s.Cohorts, func(a, b queue.Cohort) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(s.Queues, func(a, b queue.Queue) int { return cmp.Compare(a.Name, b.Name) })
	for i := range s.Cohorts {
		s.cohortAt[s.Cohorts[i].Name] = i
	}
	columns = columns.configured(s.flavorResources(), users)
	nodes := make([]quotatree.Node, 0, len(cohorts)+len(queues))
	add := func(parent string, quotas []quota.Quota, reserved []quota.Amount, weight quota.OptionalFloat64, members [][]int32) {
		n := quotatree.Node{Parent: -1, Quotas: make([]quotatree.Entry, 0, len(quotas)), Weight: weight}
		if parent != "" {
			n.Parent = s.cohortAt[parent]
			members[n.Parent] = append(members[n.Parent], int32(len(nodes)))
		}
		for _, q := range quotas {
			n.Quotas = append(n.Quotas, quotatree.Entry{
				Column: columns.Number(q.FlavorResource()), Nominal: q.Nominal,
				BorrowingLimit: q.BorrowingLimit, LendingLimit: q.LendingLimit,
			})
		}
		nodes = append(nodes, n)
		s.Reserved = append(s.Reserved, addAmounts(nil, 1, reserved, columns))
	}
	for i := range s.Cohorts {
		s.Cohorts[i] = s.Cohorts[i].Clone()
		add(s.Cohorts[i].Parent, s.Cohorts[i].Quotas, s.Cohorts[i].Reserved, s.Cohorts[i].FairWeight, s.ChildCohorts)
	}
	for i := range s.Queues {
		s.Queues[i] = s.Queues[i].Clone()
		s.queueAt[s.Queues[i].Name] = len(nodes)
		add(s.Queues[i].Cohort, s.Queues[i].Quotas, s.Queues[i].Reserved, s.Queues[i].FairWeight, s.ChildQueues)
	}
	parents := make([]int, len(nodes))
	for i := range nodes {
		parents[i] = nodes[i].Parent
	}
	var err error
	var resources []int
	s.Resources, resources = columns.resources()
	if s.Tree, err = quotatree.NewTree(nodes, resources); err != nil {
		return nil, nil, err
	}
	s.Minimum = minimum.NewTree(parents, s.minRuntime)
	return s, columns, nil
}

// flavorResources lists what has a quota or is reserved, node by node.
func (s *Shape) flavorResources() []quota.FlavorResource {
	var list []quota.FlavorResource
	add := func(quotas []quota.Quota, reserved []quota.Amount) {
		for i := range quotas {
			list = append(list, quotas[i].FlavorResource())
		}
		for i := range reserved {
			list = append(list, reserved[i].FlavorResource())
		}
	}
	for i := range s.Cohorts {
		add(s.Cohorts[i].Quotas, s.Cohorts[i].Reserved)
	}
	for i := range s.Queues {
		add(s.Queues[i].Quotas, s.Queues[i].Reserved)
	}
	return list
}

func (s *Shape) minRuntime(node int) *minruntime.Settings {
	if s.IsQueue(node) {
		return &s.Queue(node).MinRuntime
	}
	return &s.Cohorts[node].MinRuntime
}

// QueueNode returns the node of a queue.
func (s *Shape) QueueNode(name string) (node int, ok bool) {
	node, ok = s.queueAt[name]
	return node, ok
}

// CohortNode returns the node of a cohort.
func (s *Shape) CohortNode(name string) (node int, ok bool) {
	node, ok = s.cohortAt[name]
	return node, ok
}

// Queue returns the configuration of the queue at the node.
func (s *Shape) Queue(node int) *queue.Queue { return &s.Queues[node-len(s.Cohorts)] }

// NodeName returns `queue "name"` or `cohort "name"`.
func (s *Shape) NodeName(node int) string {
	if s.IsQueue(node) {
		return fmt.Sprintf("queue %q", s.Queue(node).Name)
	}
	return fmt.Sprintf("cohort %q", s.Cohorts[node].Name)
}

// EachQueueUnder calls yield with the queues under a cohort, by name, the queues of a cohort
// before those of its child cohorts, until yield returns false. It leaves out the child
// except, a queue or a cohort, and child cohorts for which enter returns false.
func (s *Shape) EachQueueUnder(cohort, except int, enter, yield func(node int) bool) bool {
	for _, q := range s.ChildQueues[cohort] {
		if int(q) != except && !yield(int(q)) {
			return false
		}
	}
	for _, c := range s.ChildCohorts[cohort] {
		if int(c) != except && enter(int(c)) && !s.EachQueueUnder(int(c), except, enter, yield) {
			return false
		}
	}
	return true
}

// IsQueue reports whether the node is a queue.
func (s *Shape) IsQueue(node int) bool { return node >= len(s.Cohorts) }
