package preemption

import (
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/entitled"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
)

// shares are the fair shares of a snapshot.
type shares struct {
	tree    fairshare.Tree
	divided []fairshare.QueueShares // by name
	dense   *right.Entitled         // of the shape
	shape   *cluster.Shape
}

// SetFairShares replaces [State.FairShares]: when requests, quotas or totals have changed. A zero tree removes
// them. It fails as [NewSnapshot] does, and costs what [fairshare.Divide] costs.
func SetFairShares(t fairshare.Tree) Edit {
	t = t.Clone()
	return Edit{name: "fairShares", to: &t}
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
	s := &shares{tree: t.Clone()}
	var err error
	var faults fault.List
	if s.divided, err = fairshare.Divide(s.tree); err != nil {
		addUnder(&faults, path+".", "", err)
		return nil, faults
	}
	for i := range s.tree.Queues {
		for j := range s.tree.Queues[i].Claims {
			if claim := &s.tree.Queues[i].Claims[j]; claim.Usage|claim.NonPreemptible != 0 {
				faults.Add(fmt.Sprintf("%s.queues[%d].claims[%d].usage", path, i, j), "is set: a snapshot counts what its workloads hold (queue %q)", s.tree.Queues[i].Name)
			}
		}
	}
	s.shape = c.Shape
	s.dense = s.among(c, path, &faults)
	return s, faults.Err()
}

// among gives the shares to the nodes of a cluster. It adds a fault for each queue that is in the tree or in
// the cluster alone, or has other parents there.
func (s *shares) among(c *cluster.Cluster, path string, faults *fault.List) *right.Entitled {
	nodes, n := c.Tree.Len(), len(s.tree.Resources)
	e := &right.Entitled{
		Queues: &entitled.Queues{Resources: n, Parent: make([]int, nodes), Total: make([]int64, n), Priority: make([]int64, nodes),
			Created: make([]int64, nodes), Saturation: entitled.Factor(s.tree.Saturation.Or(1))},
		Columns: make([][]int, n), Root: -1,
		Orders: make([]atomic.Pointer[right.Order], nodes),
	}
	e.Quota, e.Share, e.Allocatable = make([]int64, nodes*n), make([]int64, nodes*n), make([]int64, nodes*n)
	for r := range s.tree.Resources {
		e.Total[r] = s.tree.Resources[r].Total
		e.Columns[r] = c.Columns.OfResource(s.tree.Resources[r].Name)
	}
	for node := range nodes {
		e.Parent[node] = c.Tree.Parent(node)
	}
	named := make([]bool, nodes)
	for i := range s.tree.Queues {
		q := &s.tree.Queues[i]
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
		e.Priority[node], e.Created[node] = q.Priority, instant.Of(q.CreatedAt)
		s.enter(e, node, q)
	}
	for node, known := range named {
		if !known && node != e.Root {
			faults.Add(path, "%s has no fair share", c.NodeName(node))
		}
	}
	return e
}

// enter enters the amounts of a queue.
func (s *shares) enter(e *right.Entitled, node int, q *fairshare.Queue) {
	at, _ := slices.BinarySearchFunc(s.divided, q.Name, func(of fairshare.QueueShares, name string) int {
		switch {
		case of.Queue < name:
			return -1
		case of.Queue > name:
			return 1
		}
		return 0
	})
	for r, share := range s.divided[at].Shares {
		i := e.At(node, r)
		e.Share[i], e.Allocatable[i] = share.FairShare, share.Allocatable
		for _, claim := range q.Claims {
			if claim.Resource == share.Resource {
				e.Quota[i] = claim.Quota
			}
		}
	}
}

// sharesFor returns the shares for a cluster made by edits.
func (s *shares) sharesFor(c *cluster.Cluster) *shares {
	if s == nil || s.shape == c.Shape {
		return s
	}
	next := *s
	var faults fault.List
	next.shape, next.dense = c.Shape, next.among(c, "fairShares", &faults)
	return &next
}

// FairShares returns what each queue is entitled to and what it holds, by name; nil if the state has
// no fair shares. What was told to leave counts as held.
func (s *Snapshot) FairShares() []fairshare.QueueShares {
	if s == nil || s.shares == nil {
		return nil
	}
	c, of := s.inside(), s.shares
	tree := of.tree.Clone()
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

// equalShares reports whether two trees are the same, the order of their lists included.
func equalShares(a, b *fairshare.Tree) bool { return reflect.DeepEqual(a, b) }

// tree returns the fair shares of a state; zero if there are none.
func (s *Snapshot) tree() fairshare.Tree {
	if s == nil || s.shares == nil {
		return fairshare.Tree{}
	}
	return s.shares.tree.Clone()
}
