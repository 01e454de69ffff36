package main

import (
	"slices"
	"strconv"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
)

// node is a cohort or queue in the tree of the request.
type node struct {
	Kind  string `json:"kind"` // Cohort or ClusterQueue
	Name  string `json:"name"`
	Depth int    `json:"depth"`
	// parent is the cohort above; apart says that it is left out of the tree.
	parent string
	apart  bool
	Quota  []preemption.QuotaStatus `json:"quota"`
	Share  share                    `json:"share"`
}

// share is the dominant resource share of a node.
type share struct {
	// Weighted is a number, or "+Inf", which JSON has no number for.
	Weighted         string `json:"weightedShare"`
	DominantResource string `json:"dominantResource,omitempty"`
}

func shareOf(s preemption.Share) share {
	return share{strconv.FormatFloat(s.Weighted(), 'g', -1, 64), s.DominantResource}
}

// tree is [answer.nodes] with the facts of each node: all rows, or only the contested ones.
func (a *answer) tree(all bool) []node {
	nodes := a.nodes()
	a.fill(nodes, "Cohort", all)
	a.fill(nodes, "ClusterQueue", all)
	return nodes
}

// fill adds the rows and shares of the nodes of one kind.
func (a *answer) fill(nodes []node, kind string, all bool) {
	asked, contested := a.requested(), a.contested()
	for i := range nodes {
		n := &nodes[i]
		if n.Kind != kind {
			continue
		}
		status, shareIn := a.Snapshot.QueueStatus, a.Snapshot.QueueShare
		if kind == "Cohort" {
			status, shareIn = a.Snapshot.CohortStatus, a.Snapshot.CohortShare
		}
		rows, _ := status(n.Name, asked...)
		weighted, _ := shareIn(n.Name)
		n.Quota, n.Share = []preemption.QuotaStatus{}, shareOf(weighted)
		for _, r := range rows {
			there := r.Nominal != 0 || r.SubtreeQuota != 0 || r.Usage != 0 || a.hasQuota(n, r.FlavorResource)
			if there && (all || slices.Contains(contested, r.FlavorResource)) {
				n.Quota = append(n.Quota, r)
			}
		}
	}
}

// hasQuota reports whether a node has an entry for a column, even one of zero. Without entry, quota and usage
// a queue cannot use the column, whatever is free above it.
func (a *answer) hasQuota(n *node, column quota.FlavorResource) bool {
	return slices.ContainsFunc(a.quotas(n), func(e quota.Quota) bool { return e.FlavorResource() == column })
}

// nodes lists the preemptor's tree from its root down.
func (a *answer) nodes() (nodes []node) {
	all := answers.Tree(a.Snapshot)
	own := slices.IndexFunc(all, func(n answers.Node) bool { return !n.Cohort && n.Name == a.request.Workload.Queue })
	for i, n := range all {
		if i == own || all[own].Root != "" && n.Root == all[own].Root {
			kind := "ClusterQueue"
			if n.Cohort {
				kind = "Cohort"
			}
			nodes = append(nodes, node{Kind: kind, Name: n.Name, Depth: n.Depth, parent: n.Parent})
		}
	}
	return nodes
}

// ancestors lists the cohorts above the request's queue, the nearest first, and the height of each.
func (a *answer) ancestors() (cohorts []string, heights []int) {
	parents, height, above := map[string]string{}, map[string]int{}, ""
	for _, n := range slices.Backward(answers.Tree(a.Snapshot)) { // what is below comes before
		if n.Cohort {
			parents[n.Name] = n.Parent
			height[n.Parent] = max(height[n.Parent], height[n.Name]+1)
			continue
		}
		height[n.Parent] = max(height[n.Parent], 1)
		if n.Name == a.request.Workload.Queue {
			above = n.Parent
		}
	}
	for ; above != ""; above = parents[above] {
		cohorts, heights = append(cohorts, above), append(heights, height[above])
	}
	return cohorts, heights
}

// requested lists the columns of the request with an amount, or all if there are none; if no
// flavor could be assigned, those that are short.
func (a *answer) requested() []quota.FlavorResource {
	var some, every []quota.FlavorResource
	if _, ok := answers.Unassigned(a.decision); ok {
		for _, s := range a.decision.Shortage {
			if s.Flavor != "" {
				some = append(some, s.FlavorResource)
			}
		}
		return some
	}
	for _, u := range a.assigned.Usage() {
		if u.Flavor == "" {
			continue
		}
		every = append(every, u.FlavorResource())
		if u.Amount > 0 {
			some = append(some, u.FlavorResource())
		}
	}
	if len(some) == 0 {
		return every
	}
	return some
}

// contested lists the requested columns that do not fit now, or all of them if the request
// fits.
func (a *answer) contested() []quota.FlavorResource {
	asked := a.requested()
	rows, _ := a.Snapshot.QueueStatus(a.request.Workload.Queue, asked...)
	var list []quota.FlavorResource
	for _, u := range a.assigned.Usage() {
		for _, r := range rows {
			if r.FlavorResource == u.FlavorResource() && u.Amount > max(0, r.Available) {
				list = append(list, r.FlavorResource)
			}
		}
	}
	if len(list) == 0 {
		return asked
	}
	return list
}

const (
	maxNodes = 40 // limits the tree in text output
	few      = 6  // so many nodes are shown in any case
)

// elide leaves out, of a tree that is not small, the queues and cohorts that the rest of the answer does not name, and returns
// how many. The indentation of a remaining node counts only remaining cohorts; a node is marked if the cohort above it is not
// one of them.
func (a *answer) elide(nodes []node) (kept []node, queues, cohorts int) {
	if len(nodes) <= few {
		return nodes, 0, 0
	}
	named := map[string]bool{a.request.Workload.Queue: true}
	above, _ := a.ancestors()
	over := map[string]bool{nodes[0].Name: true} // cohorts
	for _, c := range above[:min(len(above), maxNodes/4)] {
		over[c] = true
	}
	for _, v := range a.decision.Victims {
		named[v.Queue] = true
		over[v.Cohort] = len(over) < maxNodes/2 || over[v.Cohort]
	}
	for _, b := range a.decision.Blockers {
		named[b.Queue] = true
		over[b.Cohort] = len(over) < maxNodes/2 || over[b.Cohort]
	}
	for _, s := range a.decision.Shortage {
		over[s.Cohort] = len(over) < maxNodes/2 || over[s.Cohort]
	}
	parents := map[string]string{}
	for _, n := range nodes {
		if n.Kind == "Cohort" {
			parents[n.Name] = n.parent
		}
	}
	for _, n := range nodes { // the cohorts above the queues that stay
		if n.Kind != "ClusterQueue" || !named[n.Name] {
			continue
		}
		for c := n.parent; c != "" && !over[c] && len(over) < maxNodes/2; c = parents[c] {
			over[c] = true
		}
	}
	var open []int // the depths of the remaining cohorts above
	shown := map[string]bool{"": true}
	for _, n := range nodes {
		for len(open) > 0 && open[len(open)-1] >= n.Depth {
			open = open[:len(open)-1]
		}
		switch {
		case n.Kind == "ClusterQueue" && !named[n.Name]:
			queues++
			continue
		case n.Kind == "Cohort" && !over[n.Name]:
			cohorts++
			continue
		}
		depth := n.Depth
		n.Depth, n.apart = len(open), !shown[n.parent]
		if n.Kind == "Cohort" {
			open = append(open, depth)
			shown[n.Name] = true
		}
		kept = append(kept, n)
	}
	return kept, queues, cohorts
}

// quotas returns the entries of a queue or cohort.
func (a *answer) quotas(n *node) []quota.Quota {
	if n.Kind == "Cohort" {
		c, _ := a.Snapshot.Cohort(n.Name)
		return c.Quotas
	}
	q, _ := a.Snapshot.Queue(n.Name)
	return q.Quotas
}
