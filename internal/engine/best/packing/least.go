package packing

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/engine/best/lagrange"
)

// least looks for a set of items that frees what is needed, weighs less than a known one, and keeps the limits that
// are settled. c.found says whether there is one; then it is in c.best. lower is a lower bound of the weight; proven
// says that it is the weight of the best set, or of the known one, if none is found.
func (c *cover) least(weight []int64, known int64) (lower int64, proven bool) {
	c.weight, c.most, c.found, c.stopped = weight, known-1, false, false
	c.last = c.x.count + (c.x.p.MaxNodes-c.x.count+1)/c.x.parts
	c.rounded(func(i int) float64 { return float64(weight[i]) })
	lower = c.fewest()
	c.relax(&c.goal, weight, c.settled)
	if c.x.count >= c.x.p.MaxNodes {
		return min(lower, c.most+1), lower > c.most
	}
	steps := c.goal.Climb(float64(c.most+1), min(slopeSteps, stepsPerItem*len(c.items)))
	c.x.count += steps * len(c.goal.Takes) / productsPerNode
	c.rounded(func(i int) float64 { return c.goal.Reduced[i] })
	lower = max(lower, c.goal.Lowest())
	if lower <= c.most {
		c.search()
	}
	if c.stopped {
		return lower, false
	}
	return c.most + 1, true
}

// fewest returns a bound of the weight without multipliers: of some row each item frees no more than the largest, and
// none weighs less than the lightest.
func (c *cover) fewest() (bound int64) {
	rows, lightest := len(c.needs), slices.Min(c.weight)
	for j, need := range c.needs {
		largest := int64(0)
		for i := range c.items {
			largest = max(largest, c.takes[i*rows+j])
		}
		bound = max(bound, lightest*((need-1)/largest+1))
	}
	return bound
}

// rounded tries the items by price until they are enough, and then puts back what is not needed.
func (c *cover) rounded(price func(int) float64) {
	rows := len(c.needs)
	order := c.trial[:0]
	for i := range c.items {
		order = append(order, i)
	}
	per := func(i int) float64 { // for what it frees of the rows
		part := 0.0
		for j, need := range c.needs {
			part += float64(c.takes[i*rows+j]) / float64(need)
		}
		return price(i) / part
	}
	prices := make([]float64, len(order))
	for i := range prices {
		prices[i] = per(i)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(prices[a], prices[b]), cmp.Compare(a, b)) })
	c.left = append(c.left[:0], c.needs...)
	n := 0
	for ; n < len(order) && c.short(); n++ {
		c.free(order[n], 1)
	}
	order = order[:n]
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.weight[b], c.weight[a]) })
	kept := order[:0]
	for _, i := range order {
		if c.free(i, -1); c.short() {
			c.free(i, 1)
			kept = append(kept, i)
		}
	}
	c.trial = order[:0]
	value := c.weigh(c.weight, kept)
	if value > c.most {
		return
	}
	for _, s := range c.settled {
		if c.weigh(s.weight, kept) > s.limit {
			return
		}
	}
	c.found, c.most, c.best = true, value-1, append(c.best[:0], kept...)
}

// free counts an item as gone, or the reverse.
func (c *cover) free(i int, sign int64) {
	rows := len(c.needs)
	for j := range c.left {
		c.left[j] -= sign * c.takes[i*rows+j]
	}
}

func (c *cover) short() bool { return slices.ContainsFunc(c.left, func(n int64) bool { return n > 0 }) }

// search looks at all sets.
func (c *cover) search() {
	c.order = c.order[:0]
	for i := range c.items {
		c.order = append(c.order, i)
	}
	slices.SortFunc(c.order, func(a, b int) int {
		reduced := cmp.Compare(c.goal.Reduced[a], c.goal.Reduced[b])
		return cmp.Or(reduced, cmp.Compare(c.items[a].kind, c.items[b].kind), cmp.Compare(a, b))
	})
	c.goal.SumUp(c.order)
	c.used = c.used[:0]
	for j := range c.settled {
		c.settled[j].r.SumUp(c.order)
		c.used = append(c.used, 0)
	}
	n, rows := len(c.order), len(c.needs)
	c.suffix = sized(c.suffix, (n+1)*rows)
	for at := n - 1; at >= 0; at-- {
		for j := range rows {
			c.suffix[at*rows+j] = c.suffix[(at+1)*rows+j] + c.takes[c.order[at]*rows+j]
		}
	}
	c.left, c.chosen, c.value = append(c.left[:0], c.needs...), c.chosen[:0], 0
	c.branch(0)
}

// branch looks at all sets of the chosen items and others from a position on.
func (c *cover) branch(from int) {
	if c.x.count++; c.x.count > c.last {
		c.stopped = true
		return
	}
	if !c.short() {
		if c.value <= c.most { // the limits were checked when the items were chosen
			c.found, c.most, c.best = true, c.value-1, append(c.best[:0], c.chosen...)
		}
		return
	}
	rows, skipped := len(c.needs), -1
	bound := float64(c.value) + c.pressure(&c.goal, len(c.settled))
	for at := from; at < len(c.order); at++ {
		if c.goal.Exceeds(bound+c.goal.Rest[at], c.most) {
			return
		}
		for j := range c.settled {
			s := &c.settled[j]
			if s.r.Exceeds(float64(c.used[j])+c.pressure(&s.r, j)+s.r.Rest[at], s.limit) {
				return
			}
		}
		for j, left := range c.left {
			if left > c.suffix[at*rows+j] {
				return
			}
		}
		i := c.order[at]
		if c.items[i].kind == skipped {
			continue
		}
		if skipped = c.items[i].kind; c.goal.Exceeds(bound+c.goal.Rest[at]+max(0, c.goal.Reduced[i]), c.most) {
			return // the items that follow have a larger reduced weight
		}
		if c.take(i) {
			c.branch(at + 1)
		}
		c.putBack(i)
		if c.stopped {
			return
		}
	}
}

// take chooses an item and reports whether the limits hold.
func (c *cover) take(i int) bool {
	c.free(i, 1)
	c.chosen = append(c.chosen, i)
	c.value += c.weight[i]
	ok := c.value <= c.most
	for j := range c.settled {
		c.used[j] += c.settled[j].weight[i]
		ok = ok && c.used[j] <= c.settled[j].limit
	}
	return ok
}

func (c *cover) putBack(i int) {
	c.free(i, -1)
	c.chosen = c.chosen[:len(c.chosen)-1]
	c.value -= c.weight[i]
	for j := range c.settled {
		c.used[j] -= c.settled[j].weight[i]
	}
}

// pressure returns what the multipliers add to a bound; limits is how many limits were settled before it.
func (c *cover) pressure(r *lagrange.Relaxation, limits int) (bound float64) {
	rows := len(c.needs)
	for j, left := range c.left {
		if left > 0 {
			bound += float64(r.Multiply[j] * (float64(left) / float64(c.needs[j])))
		}
	}
	for j := range limits {
		bound -= float64(r.Multiply[rows+j] * float64(c.settled[j].limit-c.used[j]))
	}
	return bound
}
