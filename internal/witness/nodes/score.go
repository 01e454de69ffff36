package nodes

import (
	"cmp"
	"math/big"
	"slices"
	"time"
)

// KEP-5710, "We score scheduling decisions for each of the domains and choose the best one"; package placement,
// step 8.

// best returns the first of the best choices.
func best(list []*choice) (found *choice) {
	for _, c := range list {
		if found == nil || compareScore(c, found) < 0 {
			found = c
		}
	}
	return found
}

// compareScore: "fewest pods against budgets; lowest highest priority of a victim; smallest sum of priorities (each plus
// 2^31, so that fewer are better); fewest pods; latest start of the earliest victim of the highest priority; first in
// order."
func compareScore(a, b *choice) int {
	return cmp.Or(
		cmp.Compare(a.violations(), b.violations()),
		cmp.Compare(a.highest(), b.highest()),
		a.sum().Cmp(b.sum()),
		cmp.Compare(a.pods(), b.pods()),
		compareStart(b.start(), a.start()),
	)
}

func (c *choice) violations() (n int) {
	for _, u := range c.victims {
		n += u.violations
	}
	return n
}

func (c *choice) highest() int64 {
	if len(c.victims) == 0 {
		return -1 << 32
	}
	highest := c.victims[0].priority()
	for _, u := range c.victims {
		highest = max(highest, u.priority())
	}
	return int64(highest)
}

func (c *choice) sum() *big.Int {
	sum := new(big.Int)
	for _, u := range c.victims {
		for range u.pods {
			sum.Add(sum, big.NewInt(int64(u.priority())+1<<31))
		}
	}
	return sum
}

func (c *choice) pods() (n int) {
	for _, u := range c.victims {
		n += len(u.pods)
	}
	return n
}

// start is the earliest start among the victims of the highest priority.
func (c *choice) start() (first time.Time) {
	for _, u := range c.victims {
		if int64(u.priority()) == c.highest() && compareStart(u.start(), first) < 0 {
			first = u.start()
		}
	}
	return first
}

// Request.MaxDomains, as built in Kubernetes: which nodes are looked at for a single pod.

// sampled: "Sampling starts at FirstNode, wraps around, and stops after MaxDomains of them if one violates no budget; of those
// that violate one, at most MaxDomains are looked at." FirstNode is "modulo the number of nodes that can be domains by
// [workload.Pod.Nodes]".
func sampled(w *World, domains []domain, solve func(domain) *choice) (list []*choice) {
	limit, first := w.request.MaxDomains, w.request.FirstNode
	if limit == 0 {
		first = 0 // no sampling starts
	}
	clean, violating := 0, 0
	nodes := w.pods[0].nodes
	for i := range nodes {
		if limit > 0 && clean > 0 && clean+violating >= limit {
			break
		}
		n := nodes[(i+first%len(nodes))%len(nodes)]
		at := slices.IndexFunc(domains, func(d domain) bool { return d.name == n.Name })
		if at < 0 {
			continue // a filter refuses the pod there
		}
		c := solve(domains[at])
		switch {
		case c == nil || limit > 0 && c.violations() > 0 && violating == limit:
			continue
		case c.violations() > 0:
			violating++
		default:
			clean++
		}
		list = append(list, c)
	}
	return list
}
