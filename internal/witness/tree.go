package witness

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// column is one resource of one flavor.
type column = quota.FlavorResource

// node is a queue or a cohort of the quota tree.
type node struct {
	name     string
	queue    *queue.Queue // nil: it is a cohort
	parent   *node
	children []*node // cohorts by name, then queues by name
	quotas   map[column]quota.Quota
	entries  map[column]bool // see columns; nil: not known yet
	reserved map[column]int64
	weight   float64
	minimum  minruntime.Settings
	running  []*running
	asking   map[column]int64 // what the request takes here, while it counts
}

// running is a workload that holds quota, and what of it a search has removed.
type running struct {
	workload.Workload
	home *node
	gone bool    // all of it is removed
	left []int64 // by pod set: so many replicas are removed
}

// world is a state, and the request about it.
type world struct {
	config  preemption.Config
	request preemption.Request
	flavors []queue.Flavor
	shares  fairshare.Tree
	cohorts []*node // by name
	queues  []*node // by name
	own     *node
	rules   *rules.Config     // of the own queue; nil: none
	pending workload.Workload // the request's workload, with the flavors that it was assigned
	// assignment says how.
	assignment preemption.Assignment
	asked      map[column]int64 // what is requested, without zeros
	needs      []column         // "the columns in which victims are needed"

	// entitled: in fair sharing the request stays within the nominal quota, so it reclaims.
	entitled bool
	// soon: what terminates in the room counts as gone.
	soon     bool
	observed []rules.Observation // since when triggers hold
	// holdsSince is when the request's workload reserved what it holds.
	holdsSince time.Time
}

// newWorld makes the tree of a state and puts the workloads into their queues. The workload that
// asks again, and the one that it replaces, are left out: "the decision is the one on the snapshot
// without it".
func newWorld(c preemption.Config, st preemption.State, r preemption.Request) *world {
	w := &world{config: c, request: r, flavors: st.Flavors, shares: st.FairShares, observed: r.TriggersSince}
	for _, co := range st.Cohorts {
		w.cohorts = append(w.cohorts, newNode(co.Name, nil, co.Quotas, co.Reserved, co.FairWeight, co.MinRuntime))
	}
	for i := range st.Queues {
		q := &st.Queues[i]
		w.queues = append(w.queues, newNode(q.Name, q, q.Quotas, q.Reserved, q.FairWeight, q.MinRuntime))
	}
	byName := func(a, b *node) int { return cmp.Compare(a.name, b.name) }
	slices.SortFunc(w.cohorts, byName)
	slices.SortFunc(w.queues, byName)
	for _, co := range st.Cohorts {
		find(w.cohorts, co.Name).hangBelow(find(w.cohorts, co.Parent))
	}
	for i := range st.Queues {
		find(w.queues, st.Queues[i].Name).hangBelow(find(w.cohorts, st.Queues[i].Cohort))
	}
	for _, n := range w.cohorts {
		slices.SortFunc(n.children, func(a, b *node) int {
			return cmp.Or(cmp.Compare(kindOf(a), kindOf(b)), cmp.Compare(a.name, b.name))
		})
	}
	for i := range st.Admitted {
		if id := st.Admitted[i].ID; id != r.Workload.ID && id != r.Replaces {
			home := find(w.queues, st.Admitted[i].Queue)
			home.running = append(home.running, &running{
				Workload: st.Admitted[i], home: home, left: make([]int64, len(st.Admitted[i].PodSets)),
			})
		}
	}
	w.own = find(w.queues, r.Workload.Queue)
	w.rules = rulesOf(st, w.own)
	if r.HoldsQuota {
		w.holdsSince = r.Workload.ReservedAt
	}
	return w
}

func newNode(name string, q *queue.Queue, quotas []quota.Quota, reserved []quota.Amount, weight quota.OptionalFloat64,
	minimum minruntime.Settings) *node {
	n := &node{
		name: name, queue: q, quotas: map[column]quota.Quota{}, reserved: map[column]int64{},
		weight: weight.Or(1), minimum: minimum,
	}
	for _, e := range quotas {
		n.quotas[e.FlavorResource()] = e
	}
	for _, a := range reserved {
		n.reserved[a.FlavorResource()] = a.Amount
	}
	return n
}

// find returns the node with a name, nil if there is none.
func find(nodes []*node, name string) *node {
	for _, n := range nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

func (n *node) hangBelow(parent *node) {
	if parent != nil {
		n.parent = parent
		parent.children = append(parent.children, n)
	}
}

// kindOf is 0 for cohorts and 1 for queues.
func kindOf(n *node) int {
	if n.queue != nil {
		return 1
	}
	return 0
}

// above reports whether the node is another node or one above it.
func (n *node) above(other *node) bool {
	for ; other != nil; other = other.parent {
		if other == n {
			return true
		}
	}
	return false
}

// meet returns the lowest node above both nodes; nil if they are in different trees.
func meet(a, b *node) *node {
	for ; a != nil; a = a.parent {
		if a.above(b) {
			return a
		}
	}
	return nil
}

// under returns the node and all nodes below it.
func (n *node) under() []*node {
	list := []*node{n}
	for _, child := range n.children {
		list = append(list, child.under()...)
	}
	return list
}
