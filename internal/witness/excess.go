package witness

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// [preemption.Excess] and package settle: what is used beyond what may be used.

// Excess lists what is over: "queues before cohorts, cohorts farther from the root first, then by name, flavor and
// resource".
func Excess(st preemption.State) (list []preemption.Excess) {
	w := newWorld(preemption.Config{}, st, preemption.Request{})
	cohorts := slices.Clone(w.cohorts)
	slices.SortStableFunc(cohorts, func(a, b *node) int { return cmp.Compare(len(b.path()), len(a.path())) })
	for _, n := range slices.Concat(w.queues, cohorts) {
		for _, fr := range n.columnsOfTree() {
			if over := n.excess(fr); over > 0 {
				e := preemption.Excess{Queue: n.name, FlavorResource: fr, Amount: over}
				if n.queue == nil {
					e.Queue, e.Cohort = "", n.name
				}
				list = append(list, e)
			}
		}
	}
	return list
}

// excess is what a node uses "beyond what it may use": its quota, and below a cohort as much as its borrowing limit more.
func (n *node) excess(fr column) int64 {
	most := n.subtreeQuota(fr)
	if n.parent != nil {
		most = plus(most, n.quotas[fr].BorrowingLimit.Or(unlimited))
	}
	return minus(n.usage(fr), most)
}

// path is the node and all above it.
func (n *node) path() (list []*node) {
	for ; n != nil; n = n.parent {
		list = append(list, n)
	}
	return list
}

// columnsOfTree lists in order what has a quota or is used in the tree of a node.
func (n *node) columnsOfTree() []column {
	set := map[column]bool{}
	for _, fr := range (&world{own: n}).allColumns() {
		set[fr] = true
	}
	return slices.SortedFunc(maps.Keys(set), column.Compare)
}

// Settling returns the part of a state in which a request stands for an excess: the queue or cohort that is over, with
// what is below it, as a root that may use what the node may use; and the queue in which the request is made. "In a
// queue that is over any of its workloads yields." A cohort gets a queue of its own that reclaims from any, with a
// nominal quota as large as the excess.
func Settling(st preemption.State, queueName, cohortName string, excess quota.Amount) (part preemption.State, asks string) {
	w := newWorld(preemption.Config{}, st, preemption.Request{})
	n, asks := find(w.queues, queueName), queueName
	if queueName == "" {
		n, asks = find(w.cohorts, cohortName), "\x00"+cohortName
	}
	quotas, least := n.asRoot(excess), n.settings()
	part.Flavors = st.Flavors
	for _, co := range st.Cohorts {
		switch at := find(w.cohorts, co.Name); {
		case at == n:
			part.Cohorts = append(part.Cohorts, queue.Cohort{Name: co.Name, Quotas: quotas, Reserved: co.Reserved, MinRuntime: least})
		case n.above(at):
			part.Cohorts = append(part.Cohorts, co)
		}
	}
	for _, q := range st.Queues {
		switch at := find(w.queues, q.Name); {
		case at == n:
			q.Cohort, q.Rules, q.Quotas, q.MinRuntime = "", "", quotas, least
			q.Preemption = queue.PreemptionPolicy{WithinClusterQueue: queue.LowerOrNewerEqualPriority}
			part.Queues = append(part.Queues, q)
		case n.above(at):
			part.Queues = append(part.Queues, q)
		}
	}
	if n.queue == nil {
		part.Queues = append(part.Queues, queue.Queue{
			Name: asks, Cohort: cohortName, Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any},
			Quotas: []quota.Quota{{Flavor: excess.Flavor, Resource: excess.Resource, Nominal: excess.Amount}},
		})
	}
	for _, r := range st.Admitted {
		if n.above(find(w.queues, r.Queue)) {
			part.Admitted = append(part.Admitted, r)
		}
	}
	return part, asks
}

// asRoot gives a node as its own what it may use. Of what is over it may use no more than that; in a queue
// the request comes beside it.
func (n *node) asRoot(excess quota.Amount) (list []quota.Quota) {
	for _, fr := range n.columnsOfTree() {
		nominal := plus(n.quotas[fr].Nominal, max(0, minus(n.potential(fr), n.subtreeQuota(fr))))
		if fr == excess.FlavorResource() {
			nominal = n.quotas[fr].Nominal
			if n.parent != nil {
				nominal = plus(nominal, n.quotas[fr].BorrowingLimit.Or(0))
			}
			if n.queue != nil {
				nominal = plus(nominal, excess.Amount)
			}
		}
		list = append(list, quota.Quota{Flavor: fr.Flavor, Resource: fr.Resource, Nominal: nominal})
	}
	return list
}

// settings are the minimum runtimes that hold in a node.
func (n *node) settings() (s minruntime.Settings) {
	for _, at := range n.path() {
		if s.Preempt.IsZero() {
			s.Preempt = at.minimum.Preempt
		}
		if s.Reclaim.IsZero() {
			s.Reclaim = at.minimum.Reclaim
		}
	}
	return s
}
