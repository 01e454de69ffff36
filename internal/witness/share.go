package witness

import (
	"cmp"
	"math"
)

// KEP-1714, fair sharing, as built in Kueue: the dominant resource share.

// share is "what a node borrows of its dominant resource divided by what its cohort could lend".
type share struct {
	ratio, weight float64
	borrows       bool
}

// share: "The share of a queue or cohort is what it borrows of its dominant resource divided by what
// its cohort could lend", per 1000. "A root, and a node that borrows nothing, has ratio 0."
func (w *world) share(n *node) share {
	s := share{weight: n.weight}
	if n.parent == nil {
		return s
	}
	for resource, borrowed := range borrowed(w, n) {
		lendable := lendable(w, n, resource)
		s.borrows = s.borrows || borrowed > 0
		if borrowed > 0 && lendable > 0 {
			s.ratio = max(s.ratio, float64(float64(borrowed)*1000)/float64(lendable))
		}
	}
	return s
}

// borrowed is what a node uses beyond its subtree quota, by resource, over all flavors. "Usage in a
// column without an entry counts in no share."
func borrowed(w *world, n *node) map[string]int64 {
	sums := map[string]int64{}
	for fr := range n.columns() {
		sums[fr.Resource] = plus(sums[fr.Resource], max(0, minus(n.usage(fr), n.subtreeQuota(fr))))
	}
	return sums
}

// lendable is what the cohort of a node "could use of it if nothing ran anywhere", over all flavors of
// the tree.
func lendable(w *world, n *node, resource string) (sum int64) {
	for fr := range n.root().columns() {
		if fr.Resource == resource {
			sum = plus(sum, n.parent.potential(fr))
		}
	}
	return sum
}

// columns are those in which the node, or a node below it, has an entry. They are found once: no workload changes them.
func (n *node) columns() map[column]bool {
	if n.entries == nil {
		n.entries = map[column]bool{}
		for _, below := range n.under() {
			for fr := range below.quotas {
				n.entries[fr] = true
			}
		}
	}
	return n.entries
}

func (n *node) root() *node {
	for n.parent != nil {
		n = n.parent
	}
	return n
}

// compare orders shares: "by weighted ratio. Shares of weight 0 with a ratio over 0 come after all
// others, ordered by ratio."
func (s share) compare(o share) int {
	return cmp.Or(cmp.Compare(s.weighted(), o.weighted()), cmp.Compare(s.ofNoWeight(), o.ofNoWeight()))
}

func (s share) weighted() float64 {
	switch {
	case s.ratio == 0:
		return 0
	case s.weight == 0:
		return math.Inf(1)
	}
	return s.ratio / s.weight
}

// ofNoWeight is the ratio of a share of weight 0, else 0.
func (s share) ofNoWeight() float64 {
	if s.weight == 0 {
		return s.ratio
	}
	return 0
}
