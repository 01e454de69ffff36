package witness

import "github.com/cedesched/cede/quota"

// The quota tree: KEP-83, and hierarchical cohorts as built in Kueue.

// subtreeQuota: "subtreeQuota(queue) = nominal; subtreeQuota(cohort) = nominal + what the children
// lend".
func (n *node) subtreeQuota(c column) int64 {
	sum := n.quotas[c].Nominal
	for _, child := range n.children {
		sum = plus(sum, child.lent(c))
	}
	return sum
}

// lent is the most that a node leaves to its parent: "the most that others may use of what the node
// leaves idle. If it is not set: no limit". "Unlimited nominal quota with a lending limit lends the
// limit".
func (n *node) lent(c column) int64 {
	return min(n.subtreeQuota(c), n.quotas[c].LendingLimit.Or(unlimited))
}

// localQuota: "localQuota(n) = max(0, subtreeQuota − lendingLimit) where a lending limit is set,
// else 0".
func (n *node) localQuota(c column) int64 {
	limit, set := n.quotas[c].LendingLimit.Get()
	if !set {
		return 0
	}
	return max(0, minus(n.subtreeQuota(c), limit))
}

// usage: "usage(queue) = Σ admitted; usage(cohort) = Σ children max(0, usage − localQuota)". What is
// reserved "counts as usage, and no victim frees it".
func (n *node) usage(c column) int64 {
	sum := plus(n.reserved[c], n.asking[c])
	for _, r := range n.running {
		sum = plus(sum, r.usage(c))
	}
	for _, child := range n.children {
		sum = plus(sum, child.passedOn(c))
	}
	return sum
}

// passedOn is the part of the usage that counts in the parent.
func (n *node) passedOn(c column) int64 { return max(0, minus(n.usage(c), n.localQuota(c))) }

// usage is what the rest of the workload takes: Count × amount for each pod set.
func (r *running) usage(c column) (sum int64) {
	if r.gone {
		return 0
	}
	for i := range r.PodSets {
		for _, a := range r.PodSets[i].Requests {
			switch {
			case a.FlavorResource() != c:
			case r.PodSets[i].Totals:
				sum = plus(sum, a.Amount)
			default:
				sum = plus(sum, times(r.PodSets[i].Count-r.left[i], a.Amount))
			}
		}
	}
	return sum
}

// available: "available(root) = subtreeQuota − usage; else max(0, localQuota − usage) +
// min(available(parent), subtreeQuota − localQuota − max(0, usage − localQuota) + borrowingLimit if
// set). May be negative when over-admitted."
func (n *node) available(c column) int64 {
	if n.parent == nil {
		return minus(n.subtreeQuota(c), n.usage(c))
	}
	shared := n.parent.available(c)
	if limit, set := n.quotas[c].BorrowingLimit.Get(); set {
		shared = min(shared, plus(minus(n.lent(c), n.passedOn(c)), limit))
	}
	return plus(n.idle(c), shared)
}

// idle is what the node keeps to itself and does not use: max(0, localQuota − usage).
func (n *node) idle(c column) int64 { return max(0, minus(n.localQuota(c), n.usage(c))) }

// potential: "what could be taken if nothing ran anywhere".
func (n *node) potential(c column) int64 {
	if n.parent == nil {
		return n.subtreeQuota(c)
	}
	most := plus(n.localQuota(c), n.parent.potential(c))
	if limit, set := n.quotas[c].BorrowingLimit.Get(); set {
		most = min(most, plus(n.subtreeQuota(c), limit))
	}
	return most
}

// borrows reports whether the node "borrows" in a column: it uses more than its subtree quota.
func (n *node) borrows(c column) bool { return n.usage(c) > n.subtreeQuota(c) }

// borrowsAny reports whether it borrows in one of the columns.
func (n *node) borrowsAny(columns []column) bool {
	for _, c := range columns {
		if n.borrows(c) {
			return true
		}
	}
	return false
}

// total is what the pod sets of the request take in all, by column, with entries of zero.
func (w *world) total() []quota.Amount { return w.pending.Usage() }
