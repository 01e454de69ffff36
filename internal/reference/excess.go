package reference

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// excess returns what a node uses beyond what it may use: its quota, and below a cohort as much as its borrowing limit more.
func (n *Node) excess(c Column) int64 {
	most := n.Subtree[c]
	if n.Parent != nil {
		most = quota.Add(most, n.Quotas[c].BorrowingLimit.Or(quota.Unlimited))
	}
	return quota.Sub(n.Used[c], most)
}

// Excess lists what is used beyond what may be used, queues before cohorts, cohorts farther from the root first, then by
// name, flavor and resource.
func Excess(st preemption.State) (list []preemption.Excess) {
	t := runningTree(st)
	var all []*Node
	for _, n := range t.Queues {
		all = append(all, n)
	}
	for _, n := range t.cohorts {
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b *Node) int {
		if c := first(a.Queue != nil, b.Queue != nil); c != 0 || a.Queue != nil {
			return cmp.Or(c, cmp.Compare(a.Name, b.Name))
		}
		return cmp.Or(cmp.Compare(b.depth(), a.depth()), cmp.Compare(a.Name, b.Name))
	})
	for _, n := range all {
		for _, c := range t.all {
			if over := n.excess(c); over > 0 {
				e := preemption.Excess{Queue: n.Name, FlavorResource: t.Columns[c], Amount: over}
				if n.Queue == nil {
					e.Queue, e.Cohort = "", n.Name
				}
				list = append(list, e)
			}
		}
	}
	return list
}

// runningTree is the tree of a state with what runs.
func runningTree(st preemption.State) *Tree {
	q := &usage{State: st}
	t := newTree(&st, q.columns())
	for i := range st.Admitted {
		for _, a := range st.Admitted[i].Usage() {
			t.Queues[st.Admitted[i].Queue].move(t.numbers[a.FlavorResource()], a.Amount)
		}
	}
	return t
}

// depth is the number of cohorts above.
func (n *Node) depth() (d int) {
	for n = n.Parent; n != nil; n = n.Parent {
		d++
	}
	return d
}

// Settling returns the part of a state in which a request for as much as an amount stands for an excess: the queue, or the
// cohort with what is below it, as a root that may use what the node may use; and the queue in which the request is made. In a
// queue that is over any of its workloads yields. A cohort gets a queue of its own that reclaims from any, within the nominal quota that
// comes with it, as large as the excess.
func Settling(st preemption.State, queueName, cohortName string, excess []quota.Amount) (part preemption.State, asks string) {
	t := runningTree(st)
	n := t.Queues[queueName]
	if queueName == "" {
		n = t.cohorts[cohortName]
	}
	part.Flavors = st.Flavors
	nominal := map[Column]int64{}
	for _, c := range t.all {
		nominal[c] = quota.Add(n.Quotas[c].Nominal, quota.Sub(max(n.potential(c), n.Subtree[c]), n.Subtree[c]))
	}
	for _, a := range excess {
		c := t.numbers[a.FlavorResource()]
		nominal[c] = n.Quotas[c].Nominal
		if n.Parent != nil {
			nominal[c] = quota.Add(nominal[c], n.Quotas[c].BorrowingLimit.Or(0))
		}
		if n.Queue != nil {
			nominal[c] = quota.Add(nominal[c], a.Amount)
		}
	}
	var quotas []quota.Quota
	for _, c := range t.all {
		quotas = append(quotas, quota.Quota{Flavor: t.Columns[c].Flavor, Resource: t.Columns[c].Resource, Nominal: nominal[c]})
	}
	var least minruntime.Settings
	for at := n; at != nil; at = at.Parent {
		if least.Preempt.IsZero() {
			least.Preempt = at.minRuntime.Preempt
		}
		if least.Reclaim.IsZero() {
			least.Reclaim = at.minRuntime.Reclaim
		}
	}
	for _, c := range st.Cohorts {
		if at := t.cohorts[c.Name]; at == n {
			part.Cohorts = append(part.Cohorts, queue.Cohort{Name: c.Name, Quotas: quotas, Reserved: c.Reserved, MinRuntime: least})
		} else if at.IsUnder(n) {
			part.Cohorts = append(part.Cohorts, c)
		}
	}
	for _, q := range st.Queues {
		switch at := t.Queues[q.Name]; {
		case at == n:
			q.Cohort, q.Rules, q.Quotas, q.MinRuntime = "", "", quotas, least
			q.Preemption = queue.PreemptionPolicy{WithinClusterQueue: queue.LowerOrNewerEqualPriority}
			part.Queues, asks = append(part.Queues, q), q.Name
		case at.IsUnder(n):
			part.Queues = append(part.Queues, q)
		}
	}
	if n.Queue == nil {
		asks = "\x00" + cohortName
		own := queue.Queue{Name: asks, Cohort: cohortName, Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}}
		for _, a := range excess {
			own.Quotas = append(own.Quotas, quota.Quota{Flavor: a.Flavor, Resource: a.Resource, Nominal: a.Amount})
		}
		part.Queues = append(part.Queues, own)
	}
	part.Admitted = slices.DeleteFunc(slices.Clone(st.Admitted), func(w workload.Workload) bool { return !t.Queues[w.Queue].IsUnder(n) })
	return part, asks
}
