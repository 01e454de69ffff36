package twin

import (
	"cmp"

	"github.com/cedesched/cede/quota"
)

// share is the dominant share of a node.
type share struct {
	ratio   float64 // borrowed of the dominant resource, for each 1000 lendable
	weight  float64
	borrows bool // it borrows anything, also what cannot be lent
}

// compareShares orders by the ratio over the weight. Nodes of weight zero with a ratio over
// zero come after all others, ordered by ratio.
func compareShares(a, b share) int {
	last := func(s share) bool { return s.weight == 0 && s.ratio > 0 }
	switch {
	case last(a) && last(b):
		return cmp.Compare(a.ratio, b.ratio)
	case last(a):
		return 1
	case last(b):
		return -1
	}
	weighted := func(s share) float64 {
		if s.ratio == 0 {
			return 0
		}
		return s.ratio / s.weight
	}
	return cmp.Compare(weighted(a), weighted(b))
}

// share computes a node's share from the list of workloads.
func (w *world) share(n node) share {
	weight := w.queues[n.name].FairWeight
	if n.kind == "cohort" {
		weight = w.cohorts[n.name].FairWeight
	}
	s := share{}
	s.weight = weight.Or(1)
	p := w.parent(n)
	if p == (node{}) {
		return s
	}
	root := p
	for w.parent(root) != (node{}) {
		root = w.parent(root)
	}
	borrowed, lendable := map[string]int64{}, map[string]int64{}
	for fr := range w.quotasUnder(n) {
		borrowed[fr.Resource] = quota.Add(borrowed[fr.Resource], max(0, quota.Sub(w.usage(n, fr), w.subtreeQuota(n, fr))))
	}
	for fr := range w.quotasUnder(root) {
		lendable[fr.Resource] = quota.Add(lendable[fr.Resource], w.potential(p, fr))
	}
	for resource, amount := range borrowed {
		s.borrows = s.borrows || amount > 0
		if lendable[resource] > 0 {
			s.ratio = max(s.ratio, float64(amount)*1000/float64(lendable[resource]))
		}
	}
	return s
}

// quotasUnder returns what a node or anybody under it has a quota for.
func (w *world) quotasUnder(n node) map[quota.FlavorResource]bool {
	all := map[quota.FlavorResource]bool{}
	for _, q := range w.quotas(n) {
		all[q.FlavorResource()] = true
	}
	for _, c := range w.children(n) {
		for fr := range w.quotasUnder(c) {
			all[fr] = true
		}
	}
	return all
}
