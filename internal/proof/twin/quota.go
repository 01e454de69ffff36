// Package twin decides as package preemption does, slowly and obviously: on names and maps,
// with every number computed from the list of workloads, and every candidate collected and
// sorted before the first is looked at. The fast decision must agree with it. From the
// library it uses the types, and saturating sums, differences and products of amounts.
package twin

import (
	"cmp"
	"math"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// world is a state without some workloads.
type world struct {
	cohorts map[string]queue.Cohort
	queues  map[string]queue.Queue
	below   map[node][]node
	running []workload.Workload
	gone    map[string]bool // by ID
	// fewer holds, by ID and pod set, the number of replicas removed from workloads that
	// stay.
	fewer map[string]map[string]int64
	// added runs, too, if addedTo is a queue.
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
		cohorts: map[string]queue.Cohort{}, queues: map[string]queue.Queue{}, below: map[node][]node{},
		running: apart(st.Admitted), gone: map[string]bool{}, fewer: map[string]map[string]int64{},
	}
	for _, c := range st.Cohorts {
		w.cohorts[c.Name] = c
		w.below[cohort(c.Parent)] = append(w.below[cohort(c.Parent)], cohort(c.Name))
	}
	for _, q := range st.Queues {
		w.queues[q.Name] = q
		w.below[cohort(q.Cohort)] = append(w.below[cohort(q.Cohort)], node{"queue", q.Name})
	}
	for _, list := range w.below { // queues first, by name
		slices.SortFunc(list, func(a, b node) int { return cmp.Or(cmp.Compare(b.kind, a.kind), cmp.Compare(a.name, b.name)) })
	}
	return w
}

// cohort returns the node of a cohort; none for an empty name.
func cohort(name string) node {
	if name == "" {
		return node{}
	}
	return node{"cohort", name}
}

func (w *world) parent(n node) node {
	if n.kind == "cohort" {
		return cohort(w.cohorts[n.name].Parent)
	}
	return cohort(w.queues[n.name].Cohort)
}

// ancestors returns the cohorts above a node, the nearest first.
func (w *world) ancestors(n node) []node {
	var above []node
	for n = w.parent(n); n != (node{}); n = w.parent(n) {
		above = append(above, n)
	}
	return above
}

func (w *world) children(n node) []node { return w.below[n] }

func (w *world) quotas(n node) []quota.Quota {
	if n.kind == "cohort" {
		return w.cohorts[n.name].Quotas
	}
	return w.queues[n.name].Quotas
}

func (w *world) entry(n node, fr quota.FlavorResource) quota.Quota {
	for _, q := range w.quotas(n) {
		if q.Flavor == fr.Flavor && q.Resource == fr.Resource {
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
			total = quota.Add(total, a.Amount)
		}
	}
	reserved := w.queues[n.name].Reserved
	if n.kind == "cohort" {
		reserved = w.cohorts[n.name].Reserved
	}
	for _, a := range reserved {
		if a.FlavorResource() == fr {
			total = quota.Add(total, a.Amount)
		}
	}
	for i := range w.running {
		if r := &w.running[i]; n.kind == "queue" && n.name == r.Queue && !w.gone[r.ID] {
			total = quota.Add(total, amountOf(r, fr, w.fewer[r.ID]))
		}
	}
	for _, c := range w.children(n) {
		total = quota.Add(total, w.pastLocal(c, fr))
	}
	return total
}

// pastLocal returns what a node uses of its parent.
func (w *world) pastLocal(n node, fr quota.FlavorResource) int64 {
	return max(0, quota.Sub(w.usage(n, fr), w.localQuota(n, fr)))
}

// amountOf returns what a workload takes with fewer replicas of some pod sets.
func amountOf(r *workload.Workload, fr quota.FlavorResource, fewer map[string]int64) (total int64) {
	for i := range r.PodSets {
		p := &r.PodSets[i]
		for _, a := range p.Requests {
			if a.Flavor != fr.Flavor || a.Resource != fr.Resource {
				continue
			}
			if p.Totals {
				total = quota.Add(total, a.Amount)
			} else {
				total = quota.Add(total, quota.Mul(p.Count-fewer[p.Name], a.Amount))
			}
		}
	}
	return total
}

// named lists what a workload names, also with an amount of zero, by flavor and resource.
func named(r *workload.Workload) (list []quota.FlavorResource) {
	for _, p := range r.PodSets {
		for _, a := range p.Requests {
			list = append(list, a.FlavorResource())
		}
	}
	slices.SortFunc(list, func(a, b quota.FlavorResource) int {
		return cmp.Or(cmp.Compare(a.Flavor, b.Flavor), cmp.Compare(a.Resource, b.Resource))
	})
	return slices.Compact(list)
}

func uses(r *workload.Workload, frs []quota.FlavorResource) bool {
	return slices.ContainsFunc(named(r), func(fr quota.FlavorResource) bool { return slices.Contains(frs, fr) })
}

func (w *world) localAvailable(n node, fr quota.FlavorResource) int64 {
	return max(0, quota.Sub(w.localQuota(n, fr), w.usage(n, fr)))
}

func (w *world) available(n node, fr quota.FlavorResource) int64 {
	amount, _ := w.availableBy(n, fr)
	return amount
}

// availableBy also returns the node, of n and those above it, whose quota or limit sets the
// result: the nearest of several.
func (w *world) availableBy(n node, fr quota.FlavorResource) (amount int64, bound node) {
	p := w.parent(n)
	if p == (node{}) {
		return quota.Sub(w.subtreeQuota(n, fr), w.usage(n, fr)), n
	}
	through := quota.Unlimited
	if limit, ok := w.entry(n, fr).BorrowingLimit.Get(); ok {
		through = quota.Add(quota.Sub(w.lendable(n, fr), w.pastLocal(n, fr)), limit)
	}
	amount, bound = w.availableBy(p, fr)
	if through <= amount {
		amount, bound = through, n
	}
	return quota.Add(w.localAvailable(n, fr), amount), bound
}

// potential returns what a node could use if nothing ran.
func (w *world) potential(n node, fr quota.FlavorResource) int64 {
	p := w.parent(n)
	if p == (node{}) {
		return w.subtreeQuota(n, fr)
	}
	most := quota.Unlimited
	if limit, ok := w.entry(n, fr).BorrowingLimit.Get(); ok {
		most = quota.Add(w.subtreeQuota(n, fr), limit)
	}
	return min(quota.Add(w.localQuota(n, fr), w.potential(p, fr)), most)
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

// importance is the priority that is compared: with its boost, within int64.
func importance(w *workload.Workload) int64 {
	switch p, boost := w.Priority, w.PriorityBoost; {
	case boost > 0 && p > math.MaxInt64-boost:
		return math.MaxInt64
	case boost < 0 && p < math.MinInt64-boost:
		return math.MinInt64
	default:
		return p + boost
	}
}

// over returns the number of replicas of a pod set over its minimum.
func over(p *workload.PodSet) int64 {
	if least, elastic := p.MinCount.Get(); elastic && p.Count > least {
		return p.Count - least
	}
	return 0
}
