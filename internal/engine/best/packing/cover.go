package packing

import (
	"cmp"
	"math"
	"slices"

	"github.com/cedesched/cede/internal/engine/best/lagrange"
	"github.com/cedesched/cede/quota"
)

// cover is the question about one node: which units are cheapest to remove so that some pods have room there.
type cover struct {
	x      *progress
	slots  []int   // by row
	needs  []int64 // by row: what has to be freed; all positive
	items  []item
	takes  []int64 // by item and row: what the item frees of what has to be freed
	forced []int   // units that must yield for a pod to be placed
	paid   cost    // of these

	weight  []int64 // by item: what is to be least
	most    int64   // a set is better if it weighs at most this
	settled []settled
	limits  [3]settled // memory of settled
	goal    lagrange.Relaxation
	order   []int // of items

	found   bool
	stopped bool
	best    []int
	last    int // the number of nodes at which the search stops

	left   []int64 // by row
	suffix []int64 // by position and row: what the items from there on free
	chosen []int
	used   []int64 // by settled limit
	value  int64
	trial  []int
}

// itemsPerNode is how many items and rows take as long to put in order as a node of the search. Measured, as
// productsPerNode and stepsPerNode are, by BenchmarkExact of package placement.
const itemsPerNode = 1

// item is a unit that may yield. Items of one kind may stand for each other.
type item struct {
	unit   int
	cost   cost
	excess int64 // what it adds to the sum over the least for so many pods
	kind   int
}

// settled is a weight that a set must not exceed.
type settled struct {
	weight []int64
	limit  int64
	r      lagrange.Relaxation
}

// option is a choice of pods on a node.
type option struct {
	counts []int // by kind
	pods   int
	step   int // from a state of the table to the next
	// What has to be removed for them, see cover.solve.
	possible     bool
	units        []int
	value, bound cost
}

// prepare sets up the question of an option on a node. It reports whether the pods have room if all units that may
// yield do.
func (c *cover) prepare(node int, o *option) bool {
	x, p := c.x, c.x.p
	c.slots, c.needs, c.forced, c.items, c.paid = c.slots[:0], c.needs[:0], c.forced[:0], c.items[:0], cost{}
	for k, count := range o.counts {
		if at := p.Kinds[k].At; count > 0 && at != nil {
			for _, u := range at[node].Removes {
				if x.status[u] == out {
					return false
				}
				if x.status[u] == open && !slices.Contains(c.forced, u) {
					c.forced = append(c.forced, u)
				}
			}
		}
	}
	for slot, free := range p.Free[node] {
		need, asked := -free, false
		for k, count := range o.counts {
			if n := p.Kinds[k].Needs[slot]; n > 0 && count > 0 {
				need = quota.Add(need, quota.Mul(int64(count), n))
				asked = true
			}
		}
		if asked && need > 0 {
			c.slots, c.needs = append(c.slots, slot), append(c.needs, need)
		}
	}
	for _, l := range x.units[node] {
		if x.status[l.unit] == in || x.status[l.unit] == open && slices.Contains(c.forced, l.unit) {
			for j, slot := range c.slots {
				c.needs[j] -= p.Units[l.unit].Parts[l.part].Takes[slot]
			}
			if x.status[l.unit] == open {
				c.paid = c.paid.plus(x.shareOf(l))
			}
		}
	}
	rows := 0
	for j, need := range c.needs {
		if need > 0 {
			c.slots[rows], c.needs[rows] = c.slots[j], need
			rows++
		}
	}
	c.slots, c.needs = c.slots[:rows], c.needs[:rows]
	return c.collect(node)
}

// collect lists the items. It reports whether all of them are enough.
func (c *cover) collect(node int) bool {
	x, p, rows := c.x, c.x.p, len(c.needs)
	c.takes, c.left = c.takes[:0], append(c.left[:0], c.needs...)
	for _, l := range x.units[node] {
		if x.status[l.unit] != open || slices.Contains(c.forced, l.unit) {
			continue
		}
		helps := false
		for j, slot := range c.slots {
			take := min(c.needs[j], p.Units[l.unit].Parts[l.part].Takes[slot])
			c.takes = append(c.takes, take)
			c.left[j] -= take
			helps = helps || take > 0
		}
		if !helps {
			c.takes = c.takes[:len(c.takes)-rows]
			continue
		}
		c.items = append(c.items, item{unit: l.unit, cost: x.shareOf(l)})
	}
	return !slices.ContainsFunc(c.left, func(n int64) bool { return n > 0 })
}

// solve finds the cheapest units for the pods of an option; if x.sums is not set, units with the fewest violations.
func (c *cover) solve(node int, o *option) {
	o.units = o.units[:0]
	if o.possible = c.prepare(node, o); !o.possible {
		return
	}
	o.value, o.bound = c.paid, c.paid
	o.units = append(o.units, c.forced...)
	if len(c.needs) > 0 {
		c.x.count += len(c.items) * (1 + len(c.needs)) / itemsPerNode
		value, bound := c.cheapest()
		o.value, o.bound = o.value.plus(value), o.bound.plus(bound)
		for _, i := range c.best {
			o.units = append(o.units, c.items[i].unit)
		}
	}
	if !c.x.sums {
		o.value.sum, o.value.pods, o.bound.sum, o.bound.pods = 0, 0, 0, 0
	}
	slices.Sort(o.units)
}

// cheapest leaves the cheapest set of items in c.best, and returns its cost and a bound of it. The violations come
// first. The sum is the least weight for each pod and an excess: of the sets with one number of pods, the set with
// the least excess is the best. So the number of pods rises from the least, as long as a set with more pods and less
// excess may be better.
func (c *cover) cheapest() (value, bound cost) {
	base := int64(math.MaxInt64)
	for i := range c.items {
		base = min(base, c.x.p.Units[c.items[i].unit].weight())
	}
	for i := range c.items {
		c.items[i].excess = c.items[i].cost.sum - c.items[i].cost.pods*base
	}
	c.findKinds()
	c.settled, c.best = c.limits[:0], c.best[:0]
	for i := range c.items { // all
		c.best = append(c.best, i)
	}
	violations := c.weights(func(i *item) int64 { return i.cost.violations })
	if slices.Max(violations) > 0 {
		least, proven := c.least(violations, c.weigh(violations, c.best))
		bound.violations = least
		if !proven {
			return c.costOf(c.best), bound
		}
		c.settle(violations, least)
	}
	if !c.x.sums {
		return c.costOf(c.best), bound
	}
	pods := c.weights(func(i *item) int64 { return i.cost.pods })
	least, proven := c.least(pods, c.weigh(pods, c.best))
	bound.pods, bound.sum = least, least*base
	value = c.costOf(c.best)
	if !proven {
		return value, bound
	}
	c.settle(pods, least)
	excess := c.weights(func(i *item) int64 { return i.excess })
	best := slices.Clone(c.best)
	known := c.weigh(excess, best) // for at most so many pods
	all := c.weigh(pods, c.order)
	for number := least; known > 0 && number <= all && number*base < value.sum; number++ {
		c.settled[len(c.settled)-1].limit = number
		lower, proven := c.least(excess, min(known, value.sum-number*base))
		if c.found {
			best = append(best[:0], c.best...)
			value = c.costOf(best)
			known = c.weigh(excess, best)
		}
		if !proven {
			c.best = best
			return value, cost{bound.violations, min(value.sum, number*base+lower, (number+1)*base), least}
		}
	}
	c.best = best
	return value, value
}

func (c *cover) weights(of func(*item) int64) []int64 {
	list := make([]int64, len(c.items))
	for i := range c.items {
		list[i] = of(&c.items[i])
	}
	return list
}

func (c *cover) weigh(weight []int64, chosen []int) (sum int64) {
	for _, i := range chosen {
		sum += weight[i]
	}
	return sum
}

func (c *cover) costOf(chosen []int) (sum cost) {
	for _, i := range chosen {
		sum = sum.plus(c.items[i].cost)
	}
	return sum
}

func (c *cover) settle(weight []int64, limit int64) {
	n := len(c.settled)
	c.settled = c.limits[:n+1]
	s := &c.settled[n]
	s.weight, s.limit = weight, limit
	s.r, c.goal = c.goal, s.r // the multipliers with which the limit was found
}

// findKinds sorts the items by kind; items of one kind by start, the latest first.
func (c *cover) findKinds() {
	rows, units := len(c.needs), c.x.p.Units
	takes := func(i int) []int64 { return c.takes[i*rows:][:rows] }
	kinds := func(a, b int) int {
		i, j := &c.items[a], &c.items[b]
		return cmp.Or(slices.Compare(takes(a), takes(b)), cmp.Compare(i.cost.violations, j.cost.violations),
			cmp.Compare(i.cost.sum, j.cost.sum), cmp.Compare(i.cost.pods, j.cost.pods))
	}
	order := c.order[:0]
	for i := range c.items {
		order = append(order, i)
	}
	slices.SortFunc(order, func(a, b int) int {
		i, j := c.items[a].unit, c.items[b].unit
		return cmp.Or(kinds(a, b), cmp.Compare(units[j].Started, units[i].Started), cmp.Compare(i, j))
	})
	items, list, kind := make([]item, len(order)), make([]int64, 0, len(c.takes)), 0
	for n, i := range order {
		if n > 0 && kinds(order[n-1], i) != 0 {
			kind++
		}
		items[n] = c.items[i]
		items[n].kind = kind
		list = append(list, takes(i)...)
	}
	c.order, c.items, c.takes = order, items, list
}
