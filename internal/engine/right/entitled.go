package right

import (
	"iter"
	"math"
	"slices"
	"sync/atomic"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/entitled"
	"github.com/cedesched/cede/quota"
)

// Entitled is what the nodes of the quota tree are entitled to by fair shares, as in KAI. A node
// without shares, above all others, is [Entitled.Root]. It is immutable.
type Entitled struct {
	*entitled.Queues
	// Columns are, by resource, the columns whose amounts add up to it.
	Columns [][]int
	// Root is the node above all that have shares; -1: there is none.
	Root int
	// Orders keeps, by node, the units of queues in the order in which they yield, once they were asked for.
	Orders []atomic.Pointer[Order]
}

// Order is the order in which what runs in a queue yields. It is immutable, and holds as long as the queue runs the same.
type Order struct {
	of    *cluster.Running
	Units []Unit
	// least is, by resource, the least that a workload holds without its surplus.
	least []int64
}

// Unit is a workload as a whole, or the surplus of one of its pod sets. Set is the index of the surplus; -1: the whole.
type Unit struct {
	*cluster.Workload
	Set int
}

// UnitsOf returns what may yield in a queue at all, in order.
func (e *Entitled) UnitsOf(c *cluster.Cluster, queue int, compare func(a, b Unit) int) []Unit {
	return e.orderOf(c, queue, compare).Units
}

// Least sets, by resource, the least that any workload below a node holds without its surplus; MaxInt64 if there is none.
func (e *Entitled) Least(amounts []int64, c *cluster.Cluster, node int, compare func(a, b Unit) int) {
	for i := range amounts {
		amounts[i] = math.MaxInt64
	}
	of := func(queue int) bool {
		for i, n := range e.orderOf(c, queue, compare).least {
			amounts[i] = min(amounts[i], n)
		}
		return true
	}
	if c.IsQueue(node) {
		of(node)
	} else {
		c.EachQueueUnder(node, -1, func(int) bool { return true }, of)
	}
}

func (e *Entitled) orderOf(c *cluster.Cluster, queue int, compare func(a, b Unit) int) *Order {
	running := c.Running(queue)
	if o := e.Orders[queue].Load(); o != nil && o.of == running {
		return o
	}
	o := &Order{of: running}
	for _, lane := range [...]cluster.Lane{cluster.Active, cluster.ActiveUnreserved} {
		var cursor cluster.LaneCursor
		for cursor.First(*running.Lane(lane)); ; cursor.Next() {
			w, ok := cursor.Item()
			if !ok {
				break
			}
			o.Units = append(o.Units, Unit{w, -1})
			if o.least == nil {
				o.least = slices.Repeat([]int64{math.MaxInt64}, e.Resources)
			}
			for i := range o.least {
				o.least[i] = min(o.least[i], e.Rest(w, i))
			}
			for set := range w.Surplus {
				o.Units = append(o.Units, Unit{w, set})
			}
		}
	}
	slices.SortFunc(o.Units, compare)
	e.Orders[queue].Store(o)
	return o
}

// Rest returns what a workload has of a resource without its surplus.
func (e *Entitled) Rest(w *cluster.Workload, resource int) int64 {
	amount := e.Amount(w.Loads, resource)
	for i := range w.Surplus {
		amount = quota.Sub(amount, quota.Mul(w.Surplus[i].Count, e.Amount(w.Surplus[i].Loads, resource)))
	}
	return amount
}

// Amount returns what loads have of a resource.
func (e *Entitled) Amount(loads []quotatree.Load, resource int) (sum int64) {
	for _, column := range e.Columns[resource] {
		sum = quota.Add(sum, quotatree.AmountIn(loads, column))
	}
	return sum
}

// AskEntitled returns the question that the request is to the rules of fair shares, while nobody has yielded.
func AskEntitled(c *Case) *entitled.Asked {
	e := c.Request.Entitled
	a := &entitled.Asked{Queues: e.Queues, NonPreemptible: c.Request.NeverYields, Requests: make([]int64, e.Resources)}
	for n := c.Request.Queue; n >= 0 && n != e.Root; n = c.Cluster.Tree.Parent(n) {
		a.Path = append([]int{n}, a.Path...)
	}
	for i := range a.Requests {
		for slot, column := range c.Request.Columns[:len(c.Request.Amounts)] {
			for _, of := range e.Columns[i] {
				if of == column {
					a.Requests[i] = quota.Add(a.Requests[i], c.Request.Amounts[slot])
				}
			}
		}
	}
	leaving := leavingBelow(c)
	a.Held = func(node, i int) int64 {
		held := e.Amount(c.Cluster.Usage.Row(node), i)
		if left := leaving[node]; left != nil {
			held = quota.Sub(held, left[i])
		}
		return held
	}
	a.Fixed = func(node, i int) int64 { return e.Fixed(c.Cluster, node, i) }
	return a
}

// MayReclaim reports whether the preemptor's queue is entitled to what is requested.
func MayReclaim(c *Case) bool { return AskEntitled(c).May() }

// leavingBelow returns, by node, what is there that was told to leave: to fair shares it is gone.
func leavingBelow(c *Case) (by map[int][]int64) {
	e := c.Request.Entitled
	for queue, w := range c.Cluster.EachLeaving {
		if by == nil {
			by = map[int][]int64{}
		}
		for n := queue; n >= 0; n = c.Cluster.Tree.Parent(n) {
			if by[n] == nil {
				by[n] = make([]int64, e.Resources)
			}
			for i := range by[n] {
				by[n][i] = quota.Add(by[n][i], e.Amount(w.Loads, i))
			}
		}
	}
	return by
}

// Fixed returns what workloads that never yield hold of a resource in a node.
func (e *Entitled) Fixed(c *cluster.Cluster, node, resource int) (sum int64) {
	of := func(queue int) bool {
		for _, column := range e.Columns[resource] {
			sum = quota.Add(sum, c.NeverYielding(queue, column))
		}
		return true
	}
	if c.IsQueue(node) {
		of(node)
	} else {
		c.EachQueueUnder(node, -1, func(int) bool { return true }, of)
	}
	return sum
}

// EachOverFixed yields each node, from the queue up, in which what never yields would exceed the quota of
// something that is requested, with the resource. Neither time nor victims change anything about it.
func EachOverFixed(c *Case) iter.Seq2[int, int] {
	return func(yield func(node, resource int) bool) {
		e := c.Request.Entitled
		if e == nil || !c.Request.NeverYields {
			return
		}
		a := AskEntitled(c)
		for n := a.Own(); n >= 0 && n != e.Root; n = c.Cluster.Tree.Parent(n) {
			if i := a.OverFixed(n, false); i >= 0 && !yield(n, i) {
				return
			}
		}
	}
}

// OverFixed reports whether there is such a node.
func OverFixed(c *Case) bool {
	if c.Request.Entitled == nil { // most decisions, which allocate nothing here
		return false
	}
	for range EachOverFixed(c) {
		return true
	}
	return false
}
