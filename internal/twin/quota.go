// Package twin decides as package preemption does, slowly and obviously: on names
// and maps, every number computed anew from the list of workloads, every candidate
// collected and sorted before the first is looked at. The fast decision must agree
// with it.
package twin

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// world is a state in which some workloads are gone.
type world struct {
	cohorts map[string]queue.Cohort
	queues  map[string]queue.Queue
	running []workload.Workload
	gone    map[string]bool // by ID
	// fewer is how many replicas are gone of workloads that are not, by ID and pod set.
	fewer map[string]map[string]int64
	// added runs besides, if addedTo is a queue.
	added   []quota.Amount
	addedTo string
}

// node is a queue or a cohort; the zero value is none.
type node struct {
	kind string // "queue" or "cohort"
	name string
}

func newWorld(st preemption.State) *world {
	w := &world{
		cohorts: map[string]queue.Cohort{}, queues: map[string]queue.Queue{}, running: st.Admitted,
		gone: map[string]bool{}, fewer: map[string]map[string]int64{},
	}
	for _, c := range st.Cohorts {
		w.cohorts[c.Name] = c
	}
	for _, q := range st.Queues {
		w.queues[q.Name] = q
	}
	return w
}

func (w *world) parent(n node) node {
	above := w.queues[n.name].Cohort
	if n.kind == "cohort" {
		above = w.cohorts[n.name].Parent
	}
	if above == "" {
		return node{}
	}
	return node{"cohort", above}
}

// ancestors returns the cohorts above a node, the nearest first.
func (w *world) ancestors(n node) []node {
	var above []node
	for n = w.parent(n); n != (node{}); n = w.parent(n) {
		above = append(above, n)
	}
	return above
}

func (w *world) children(n node) []node {
	var below []node
	for name := range w.queues {
		if c := (node{"queue", name}); w.parent(c) == n {
			below = append(below, c)
		}
	}
	for name := range w.cohorts {
		if c := (node{"cohort", name}); w.parent(c) == n {
			below = append(below, c)
		}
	}
	return below
}

func (w *world) entry(n node, fr quota.FlavorResource) quota.Quota {
	quotas := w.queues[n.name].Quotas
	if n.kind == "cohort" {
		quotas = w.cohorts[n.name].Quotas
	}
	for _, q := range quotas {
		if q.FlavorResource() == fr {
			return q
		}
	}
	return quota.Quota{}
}

func (w *world) subtreeQuota(n node, fr quota.FlavorResource) int64 {
	total := w.entry(n, fr).Nominal
	for _, c := range w.children(n) {
		total = quota.Add(total, w.lendable(c, fr))
	}
	return total
}

func (w *world) lendable(n node, fr quota.FlavorResource) int64 {
	subtree := w.subtreeQuota(n, fr)
	if limit, ok := w.entry(n, fr).LendingLimit.Get(); ok {
		return min(subtree, limit)
	}
	return subtree
}

func (w *world) localQuota(n node, fr quota.FlavorResource) int64 {
	if limit, ok := w.entry(n, fr).LendingLimit.Get(); ok {
		return max(0, quota.Sub(w.subtreeQuota(n, fr), limit))
	}
	return 0
}

func (w *world) usage(n node, fr quota.FlavorResource) int64 {
	total := int64(0)
	for _, a := range w.added {
		if n == (node{"queue", w.addedTo}) && a.FlavorResource() == fr {
			total += a.Amount
		}
	}
	for i := range w.running {
		r := &w.running[i]
		if n == (node{"queue", r.Queue}) && !w.gone[r.ID] {
			total += amountOf(r, fr)
			for _, p := range r.PodSets {
				for _, a := range p.Requests {
					if a.FlavorResource() == fr {
						total -= w.fewer[r.ID][p.Name] * a.Amount
					}
				}
			}
		}
	}
	for _, c := range w.children(n) {
		total += max(0, w.usage(c, fr)-w.localQuota(c, fr))
	}
	return total
}

func amountOf(r *workload.Workload, fr quota.FlavorResource) int64 {
	for _, a := range r.Usage() {
		if a.FlavorResource() == fr {
			return a.Amount
		}
	}
	return 0
}

func uses(r *workload.Workload, frs []quota.FlavorResource) bool {
	return slices.ContainsFunc(r.Usage(), func(a quota.Amount) bool { return slices.Contains(frs, a.FlavorResource()) })
}

func (w *world) localAvailable(n node, fr quota.FlavorResource) int64 {
	return max(0, quota.Sub(w.localQuota(n, fr), w.usage(n, fr)))
}

func (w *world) available(n node, fr quota.FlavorResource) int64 {
	p := w.parent(n)
	if p == (node{}) {
		return quota.Sub(w.subtreeQuota(n, fr), w.usage(n, fr))
	}
	through := quota.Sub(w.lendable(n, fr), max(0, w.usage(n, fr)-w.localQuota(n, fr)))
	if limit, ok := w.entry(n, fr).BorrowingLimit.Get(); ok {
		through = quota.Add(through, limit)
	} else {
		through = quota.Unlimited
	}
	return quota.Add(w.localAvailable(n, fr), min(w.available(p, fr), through))
}

func (w *world) within(n node, frs []quota.FlavorResource) bool {
	return !slices.ContainsFunc(frs, func(fr quota.FlavorResource) bool { return w.usage(n, fr) > w.subtreeQuota(n, fr) })
}

func (w *world) height(n node) int {
	h := 0
	for _, c := range w.children(n) {
		h = max(h, w.height(c)+1)
	}
	return h
}
