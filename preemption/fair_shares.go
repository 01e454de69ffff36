package preemption

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/entitled"
	"github.com/cedesched/cede/internal/persist/vector"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
)

// shares are the fair shares of a snapshot.
type shares struct {
	division *fairshare.Division
	dense    *right.Entitled // of the shape
	shape    *cluster.Shape
}

// SetFairShares replaces [State.FairShares]: when requests, quotas or totals have changed. A zero tree removes
// them. It fails as [NewSnapshot] does, and costs what [fairshare.Divide] costs.
func SetFairShares(t fairshare.Tree) Edit {
	t = t.Clone()
	return Edit{name: "fairShares", to: &t}
}

// SetFairShareQueue replaces a queue of [State.FairShares] by one of the same name and parent: when what it requests has changed, its
// quota, limit, weight or priority. It costs what [fairshare.Division.With] costs. It fails if there is no such queue, as [NewSnapshot] does, and
// if the usage is set.
func SetFairShareQueue(q fairshare.Queue) Edit {
	q.Claims = slices.Clone(q.Claims)
	return Edit{name: q.Name, to: &q}
}

// QueuesOf returns cohorts and queues for the queues of a tree: quota that lets each hold what its limits
// allow, all of them what there is, and policies by which the shares decide alone ([KAI]). Queues with children
// become cohorts, the others queues, and above all of them is a cohort with the name given. Amounts
// are of one flavor. Minimum runtimes may be added.
func QueuesOf(t fairshare.Tree, above, flavor string) (cohorts []queue.Cohort, queues []queue.Queue) {
	inner := map[string]bool{}
	for i := range t.Queues {
		inner[t.Queues[i].Parent] = true
	}
	top := queue.Cohort{Name: above}
	for _, r := range t.Resources {
		top.Quotas = append(top.Quotas, quota.Quota{Flavor: flavor, Resource: r.Name, Nominal: r.Total})
	}
	cohorts = append(cohorts, top)
	for i := range t.Queues {
		q := &t.Queues[i]
		parent := q.Parent
		if parent == "" {
			parent = above
		}
		var quotas []quota.Quota
		for _, r := range t.Resources {
			of := quota.Quota{Flavor: flavor, Resource: r.Name}
			if at := slices.IndexFunc(q.Claims, func(c fairshare.Claim) bool { return c.Resource == r.Name }); at >= 0 {
				of.BorrowingLimit = q.Claims[at].Limit
			}
			quotas = append(quotas, of)
		}
		if inner[q.Name] {
			cohorts = append(cohorts, queue.Cohort{Name: q.Name, Parent: parent, Quotas: quotas})
		} else {
			queues = append(queues, queue.Queue{Name: q.Name, Cohort: parent, Quotas: quotas,
				Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}})
		}
	}
	return cohorts, queues
}

// divide divides fair shares among the nodes of a cluster; nil if the tree is zero.
func divide(c *cluster.Cluster, t *fairshare.Tree, path string) (*shares, error) {
	if t.IsZero() {
		return nil, nil
	}
	var faults fault.List
	division, err := fairshare.NewDivision(*t)
	if err != nil {
		addUnder(&faults, path+".", "", err)
		return nil, faults
	}
	for i := range t.Queues {
		withoutUsage(&faults, fmt.Sprintf("%s.queues[%d]", path, i), &t.Queues[i])
	}
	s := &shares{division: division, shape: c.Shape}
	s.dense = s.among(c, path, &faults)
	return s, faults.Err()
}

// withoutUsage adds a fault for each claim with usage.
func withoutUsage(faults *fault.List, path string, q *fairshare.Queue) {
	for j := range q.Claims {
		if claim := &q.Claims[j]; claim.Usage|claim.NonPreemptible != 0 {
			faults.Add(fmt.Sprintf("%s.claims[%d].usage", path, j), "is set: a snapshot counts what its workloads hold (queue %q)", q.Name)
		}
	}
}

// sharesEdit is an edit of the shares of one queue: number n of all edits.
type sharesEdit struct {
	n  int
	to *fairshare.Queue
}

// edited returns the shares after edits of queues.
func (s *shares) edited(c *cluster.Cluster, edits []sharesEdit) (*shares, error) {
	var faults fault.List
	queues := make([]fairshare.Queue, len(edits))
	for i, e := range edits {
		queues[i] = *e.to
		withoutUsage(&faults, fmt.Sprintf("edits[%d]", e.n), e.to)
	}
	division, moved, err := s.division.With(queues...)
	if err != nil {
		for i, e := range edits { // one by one, to say which of them it is
			_, _, err := s.division.With(queues[i])
			addUnder(&faults, fmt.Sprintf("edits[%d]", e.n), "queues[0]", err)
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	next, dense, of := *s, *s.dense, *s.dense.Queues
	slices.SortFunc(moved, func(a, b fairshare.QueueShares) int { return cmp.Compare(nodeOf(c, a.Queue), nodeOf(c, b.Queue)) })
	at, nodes := make([]int, len(moved)), make([]*entitled.Node, len(moved))
	for i := range moved {
		at[i] = nodeOf(c, moved[i].Queue)
		node := *of.Nodes.At(at[i])
		node.Amounts = slices.Clone(node.Amounts)
		var to *fairshare.Queue
		for j := range queues {
			if queues[j].Name == moved[i].Queue {
				to = &queues[j] // the last one holds
			}
		}
		enter(&node, moved[i].Shares, to)
		nodes[i] = &node
	}
	of.Nodes = of.Nodes.SetAll(at, nodes)
	next.division, next.dense, dense.Queues = division, &dense, &of
	return &next, nil
}

// nodeOf returns the node of a queue or cohort; -1: there is none.
func nodeOf(c *cluster.Cluster, name string) int {
	if node, is := c.QueueNode(name); is {
		return node
	}
	if node, is := c.CohortNode(name); is {
		return node
	}
	return -1
}

// among gives the shares to the nodes of a cluster. It adds a fault for each queue that is in the tree or in
// the cluster alone, or has other parents there.
func (s *shares) among(c *cluster.Cluster, path string, faults *fault.List) *right.Entitled {
	tree, nodes := s.division.Tree(), c.Tree.Len()
	n := len(tree.Resources)
	e := &right.Entitled{
		Queues:  &entitled.Queues{Resources: n, Parent: make([]int, nodes), Total: make([]int64, n), Saturation: entitled.Factor(tree.Saturation.Or(1))},
		Columns: make([][]int, n), Root: -1,
		Orders: make([]atomic.Pointer[right.Order], nodes),
	}
	for r := range tree.Resources {
		e.Total[r] = tree.Resources[r].Total
		e.Columns[r] = c.Columns.OfResource(tree.Resources[r].Name)
	}
	own := make([]*entitled.Node, nodes)
	for node := range nodes {
		e.Parent[node] = c.Tree.Parent(node)
		own[node] = &entitled.Node{Amounts: make([]entitled.Amount, n)}
	}
	named, divided := make([]bool, nodes), s.division.Shares()
	for i := range tree.Queues {
		q := &tree.Queues[i]
		at := fmt.Sprintf("%s.queues[%d]", path, i)
		node, isQueue := c.QueueNode(q.Name)
		cohort, isCohort := c.CohortNode(q.Name)
		switch {
		case isQueue && isCohort:
			faults.Add(at+".name", "%q is a queue and a cohort", q.Name)
			continue
		case isCohort:
			node = cohort
		case !isQueue:
			faults.Add(at+".name", "no queue or cohort %q", q.Name)
			continue
		}
		named[node] = true
		switch above, known := c.CohortNode(q.Parent); {
		case q.Parent != "" && (!known || above != e.Parent[node]):
			faults.Add(at+".parent", "%q is not the cohort of %s", q.Parent, c.NodeName(node))
		case q.Parent == "" && e.Root >= 0 && e.Root != e.Parent[node]:
			faults.Add(at+".parent", "is empty, but %s is not in %s, as others without a parent are", c.NodeName(node), c.NodeName(e.Root))
		case q.Parent == "":
			e.Root = e.Parent[node]
		}
		of, _ := slices.BinarySearchFunc(divided, q.Name, func(of fairshare.QueueShares, name string) int { return strings.Compare(of.Queue, name) })
		enter(own[node], divided[of].Shares, q)
	}
	e.Nodes = vector.Of(own)
	for node, known := range named {
		if !known && node != e.Root {
			faults.Add(path, "%s has no fair share", c.NodeName(node))
		}
	}
	return e
}

// enter enters shares of a queue, and what the queue says of itself; nil: that stays.
func enter(node *entitled.Node, shares []fairshare.Share, q *fairshare.Queue) {
	for r := range shares {
		of := &node.Amounts[r]
		of.Share, of.Allocatable = shares[r].FairShare, shares[r].Allocatable
		if q == nil {
			continue
		}
		of.Quota = 0
		if i := slices.IndexFunc(q.Claims, func(c fairshare.Claim) bool { return c.Resource == shares[r].Resource }); i >= 0 {
			of.Quota = q.Claims[i].Quota
		}
	}
	if q != nil {
		node.Priority, node.Created = q.Priority, instant.Of(q.CreatedAt)
	}
}

// FairShares returns what each queue is entitled to and what it holds, by name; nil if the state has
// no fair shares. What was told to leave counts as held.
func (s *Snapshot) FairShares() []fairshare.QueueShares {
	if s == nil || s.shares == nil {
		return nil
	}
	c, of := s.inside(), s.shares
	tree := of.division.Tree()
	for i := range tree.Queues {
		q := &tree.Queues[i]
		node, known := c.QueueNode(q.Name)
		if !known {
			continue
		}
		for j := range q.Claims {
			r := slices.IndexFunc(tree.Resources, func(r fairshare.Resource) bool { return r.Name == q.Claims[j].Resource })
			q.Claims[j].Usage = of.dense.Amount(c.Usage.Row(node), r)
			q.Claims[j].NonPreemptible = min(of.dense.Fixed(c, node, r), q.Claims[j].Usage)
		}
	}
	list, _ := fairshare.Divide(tree) // it is valid
	return list
}

// shareEdits returns the edits that turn a tree into another: one for each queue that changes, if the trees are alike in all else and at
// most half of the queues change. The order of the lists counts.
func shareEdits(have, want *fairshare.Tree) (edits []Edit) {
	whole := []Edit{SetFairShares(*want)}
	a, b := *have, *want
	if a.Queues, b.Queues = nil, nil; len(have.Queues) != len(want.Queues) || !reflect.DeepEqual(a, b) {
		return whole
	}
	for i := range want.Queues {
		switch was, is := &have.Queues[i], &want.Queues[i]; {
		case was.Name != is.Name || was.Parent != is.Parent:
			return whole
		case was.Priority != is.Priority || !was.CreatedAt.Equal(is.CreatedAt) || !slices.Equal(was.Claims, is.Claims):
			edits = append(edits, SetFairShareQueue(*is))
		}
	}
	if len(edits) > max(1, len(want.Queues)/2) {
		return whole
	}
	return edits
}

// tree returns the fair shares of a state; zero if there are none.
func (s *Snapshot) tree() fairshare.Tree {
	if s == nil || s.shares == nil {
		return fairshare.Tree{}
	}
	return s.shares.division.Tree()
}
