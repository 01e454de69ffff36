package main

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
)

// node is a cohort or queue of the tree that the request is in.
type node struct {
	Kind  string                   `json:"kind"` // Cohort or ClusterQueue
	Name  string                   `json:"name"`
	Depth int                      `json:"depth"`
	Quota []preemption.QuotaStatus `json:"quota"`
	Share share                    `json:"share"`
}

// share is the dominant resource share of a node.
type share struct {
	// Weighted is a number, or "+Inf", which JSON numbers cannot be.
	Weighted         string `json:"weightedShare"`
	DominantResource string `json:"dominantResource,omitempty"`
}

func shareOf(s preemption.Share) share {
	return share{strconv.FormatFloat(s.Weighted(), 'g', -1, 64), s.DominantResource}
}

// tree lists the preemptor's tree from its root down: the queues of a cohort before
// its child cohorts, each by name. All rows, or those that are contested.
func (a *answer) tree(all bool) []node {
	asked := a.requested()
	contested := a.contested()
	row := func(r preemption.QuotaStatus) bool { return all || slices.Contains(contested, r.FlavorResource) }
	keep := func(rows []preemption.QuotaStatus) []preemption.QuotaStatus {
		kept := []preemption.QuotaStatus{}
		for _, r := range rows {
			if row(r) {
				kept = append(kept, r)
			}
		}
		return kept
	}
	parents, queuesOf, cohortsOf := map[string]string{}, map[string][]string{}, map[string][]string{}
	for _, c := range a.state.Cohorts {
		parents[c.Name] = c.Parent
		cohortsOf[c.Parent] = append(cohortsOf[c.Parent], c.Name)
	}
	root := ""
	for _, q := range a.state.Queues {
		queuesOf[q.Cohort] = append(queuesOf[q.Cohort], q.Name)
		if q.Name == a.request.Workload.Queue {
			root = q.Cohort
		}
	}
	var nodes []node
	queueNode := func(name string, depth int) {
		rows, _ := a.snapshot.QueueStatus(name, asked...)
		share, _ := a.snapshot.QueueShare(name)
		nodes = append(nodes, node{"ClusterQueue", name, depth, keep(rows), shareOf(share)})
	}
	if root == "" {
		queueNode(a.request.Workload.Queue, 0)
		return nodes
	}
	for parents[root] != "" {
		root = parents[root]
	}
	var walk func(cohort string, depth int)
	walk = func(cohort string, depth int) {
		rows, _ := a.snapshot.CohortStatus(cohort, asked...)
		share, _ := a.snapshot.CohortShare(cohort)
		nodes = append(nodes, node{"Cohort", cohort, depth, keep(rows), shareOf(share)})
		for _, q := range slices.Sorted(slices.Values(queuesOf[cohort])) {
			queueNode(q, depth+1)
		}
		for _, c := range slices.Sorted(slices.Values(cohortsOf[cohort])) {
			walk(c, depth+1)
		}
	}
	walk(root, 0)
	return nodes
}

// ancestors lists the cohorts above the request's queue, the nearest first, with the
// length of the longest way down from each.
func (a *answer) ancestors() (cohorts []string, heights []int) {
	parents, height := map[string]string{}, map[string]int{}
	for _, c := range a.state.Cohorts {
		parents[c.Name] = c.Parent
	}
	raise := func(cohort string, from int) {
		for ; cohort != "" && height[cohort] < from; cohort, from = parents[cohort], from+1 {
			height[cohort] = from
		}
	}
	above := ""
	for _, c := range a.state.Cohorts {
		raise(c.Parent, 1)
	}
	for _, q := range a.state.Queues {
		raise(q.Cohort, 1)
		if q.Name == a.request.Workload.Queue {
			above = q.Cohort
		}
	}
	for ; above != ""; above = parents[above] {
		cohorts, heights = append(cohorts, above), append(heights, height[above])
	}
	return cohorts, heights
}

// requested lists the columns of the request of which it takes anything, or all if
// it takes nothing; those that are short where no flavor could be assigned.
func (a *answer) requested() []quota.FlavorResource {
	var some, every []quota.FlavorResource
	if _, ok := a.unassigned(); ok {
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

// contested lists the requested columns for which there is no room now, or all of
// them if there is room for everything.
func (a *answer) contested() []quota.FlavorResource {
	asked := a.requested()
	rows, _ := a.snapshot.QueueStatus(a.request.Workload.Queue, asked...)
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

// maxNodes bounds the tree in print.
const maxNodes = 40

// elide leaves out, of a large tree, the queues that nothing else is said about, and
// returns how many.
func (a *answer) elide(nodes []node) (kept []node, elided int) {
	if len(nodes) <= maxNodes {
		return nodes, 0
	}
	named := map[string]bool{a.request.Workload.Queue: true}
	for _, v := range a.decision.Victims {
		named[v.Queue] = true
	}
	for _, b := range a.decision.Blockers {
		named[b.Queue] = true
	}
	// Then those that borrow most of the first column, to fill the page.
	byBorrowed := slices.Clone(nodes)
	slices.SortStableFunc(byBorrowed, func(x, y node) int { return cmp.Compare(borrowed(y), borrowed(x)) })
	keep := map[string]bool{}
	for _, n := range byBorrowed {
		if n.Kind == "ClusterQueue" && len(keep) < maxNodes/2 && borrowed(n) > 0 {
			keep[n.Name] = true
		}
	}
	for _, n := range nodes {
		if n.Kind == "ClusterQueue" && !named[n.Name] && !keep[n.Name] {
			elided++
			continue
		}
		kept = append(kept, n)
	}
	return kept, elided
}

func borrowed(n node) int64 {
	if len(n.Quota) == 0 {
		return 0
	}
	return n.Quota[0].Borrowed
}
