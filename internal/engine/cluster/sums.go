package cluster

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/persist/ordered"
)

// PrioritySum is the usage of the workloads of one priority, without zeros.
type PrioritySum struct {
	Priority int64
	Loads    []quotatree.Load
}

// PrioritySums holds sums by rising priority.
type PrioritySums = ordered.Set[PrioritySum, []quotatree.Load]

var sumOrder = &ordered.Order[PrioritySum, []quotatree.Load]{
	Compare: comparePriorities,
	AddItem: func(sum *[]quotatree.Load, p PrioritySum) { *sum = quotatree.AddLoads(*sum, p.Loads) },
	AddSum:  func(sum *[]quotatree.Load, other []quotatree.Load) { *sum = quotatree.AddLoads(*sum, other) },
}

func comparePriorities(a, b PrioritySum) int { return cmp.Compare(a.Priority, b.Priority) }

// AddRunning adds the usage of the queue's workloads with a priority for which before holds; see [AddFront].
// before must hold for all priorities up to some bound.
func (c *Cluster) AddRunning(amounts []int64, columns []int, queue int, before func(priority int64) bool) {
	for lane := Active; lane <= EvictedUnreserved; lane++ {
		AddFront(amounts, columns, c.Running(queue).Lane(lane), func(w *Workload) bool { return before(w.Priority) })
	}
}

// AddReach does so for the queues under a cohort that can be reached.
func (c *Cluster) AddReach(amounts []int64, columns []int, cohort int, before func(priority int64) bool) {
	add := func(loads []quotatree.Load) { addColumns(amounts, columns, 1, loads) }
	c.Reach(cohort).Sums.Parts(func(of PrioritySum) bool { return before(of.Priority) }, func(of PrioritySum) { add(of.Loads) }, add)
}

// sumsOf appends to an empty list the sums of what runs in the queue at a node if r is nil, else
// of the reach r of the cohort at the node.
func (c *Cluster) sumsOf(node int, r *Reach, list []PrioritySum) []PrioritySum {
	if r != nil {
		return appendList(list, r.Sums)
	}
	for lane := Active; lane <= EvictedUnreserved; lane++ {
		list = appendSums(list, c.Running(node).Lane(lane))
	}
	return addedUp(list)
}

// longRun is the number of workloads of one priority above which reading the sums is cheaper
// than a look at each.
const longRun = 16

// appendSums appends the sums of a lane.
func appendSums(list []PrioritySum, set *LaneSet) []PrioritySum {
	var cursor LaneCursor
	cursor.First(*set)
	for w, ok := cursor.Item(); ok; {
		of := PrioritySum{Priority: w.Priority}
		for n := 0; ok && w.Priority == of.Priority; w, ok = cursor.Item() {
			if n++; n > longRun {
				upTo := func(o *Workload) bool { return o.Priority <= of.Priority }
				var below []quotatree.Load
				set.Sum(&below, func(o *Workload) bool { return o.Priority < of.Priority })
				of.Loads = nil
				set.Sum(&of.Loads, upTo)
				of.Loads = quotatree.AddLoads(of.Loads, negative(below))
				cursor.Seek(*set, upTo)
				continue
			}
			of.Loads = quotatree.AddLoads(of.Loads, w.Loads)
			cursor.Next()
		}
		list = append(list, of)
	}
	return list
}

// addedUp sorts a list by priority, adds up those of the same priority, and leaves out zeros.
// It may change the list, but not its loads.
func addedUp(list []PrioritySum) []PrioritySum {
	slices.SortStableFunc(list, comparePriorities)
	out := list[:0]
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Priority == list[0].Priority {
			n++
		}
		sum := list[0]
		if n > 1 {
			sum.Loads = slices.Clone(sum.Loads)
		}
		for _, other := range list[1:n] {
			sum.Loads = quotatree.AddLoads(sum.Loads, other.Loads)
		}
		if sum.Loads = nonZero(sum.Loads); len(sum.Loads) > 0 {
			out = append(out, sum)
		}
		list = list[n:]
	}
	return out
}

// nonZero returns the loads without zeros, or the same list if there are none.
func nonZero(loads []quotatree.Load) []quotatree.Load {
	isZero := func(l quotatree.Load) bool { return l.Amount == 0 }
	if !slices.ContainsFunc(loads, isZero) {
		return loads
	}
	return slices.DeleteFunc(slices.Clone(loads), isZero)
}

func negative(loads []quotatree.Load) []quotatree.Load {
	list := slices.Clone(loads)
	for i := range list {
		list[i].Amount = -list[i].Amount
	}
	return list
}

// withdrawn returns the sums negated.
func withdrawn(list []PrioritySum) []PrioritySum {
	list = slices.Clone(list)
	for i := range list {
		list[i].Loads = negative(list[i].Loads)
	}
	return list
}

// passing returns, by rising priority, by how much the usage of a node's parent falls when
// what sumsOf returns leaves. It is empty if the node cannot be reached, and leaves out what
// only frees local quota of the node. It uses the memory of room.
func (c *Cluster) passing(node int, r *Reach, room []PrioritySum) []PrioritySum {
	if !c.CanReach(node) {
		return nil
	}
	list := c.sumsOf(node, r, room)
	for _, used := range c.Usage.Row(node) {
		cell := c.Tree.Cell(node, used.Column)
		if cell.LocalQuota == 0 {
			continue
		}
		left := cell.PastLocal(used.Amount)
		for i := range list {
			j := slices.IndexFunc(list[i].Loads, func(l quotatree.Load) bool { return l.Column == used.Column })
			if j < 0 {
				continue
			}
			if amount := list[i].Loads[j].Amount; amount > left {
				list[i].Loads = slices.Clone(list[i].Loads)
				list[i].Loads[j].Amount = left
			}
			left -= list[i].Loads[j].Amount
		}
	}
	return addedUp(list)
}

// passesAll reports whether a node has no local quota in the columns that it uses.
func (c *Cluster) passesAll(node int) bool {
	for _, used := range c.Usage.Row(node) {
		if cell := c.Tree.Cell(node, used.Column); cell.LocalQuota > 0 {
			return false
		}
	}
	return true
}

// fewSums is the number of sums in a list that costs about as much as one change of the set.
const fewSums = 16

// plus returns the sums with changes added, both by rising priority.
func plus(sums PrioritySums, changes []PrioritySum) PrioritySums {
	if sums.Len() <= fewSums*len(changes) {
		list := appendList(make([]PrioritySum, 0, sums.Len()+len(changes)), sums)
		return ordered.Of(sumOrder, addedUp(append(list, changes...)))
	}
	for _, change := range changes {
		old, _ := sums.Get(func(p PrioritySum) int { return comparePriorities(p, change) })
		change.Loads = nonZero(quotatree.AddLoads(slices.Clone(old.Loads), change.Loads))
		if len(change.Loads) > 0 {
			sums = sums.Insert(change)
		} else {
			sums, _ = sums.Delete(change)
		}
	}
	return sums
}

func appendList(list []PrioritySum, sums PrioritySums) []PrioritySum {
	var cursor ordered.Cursor[PrioritySum, []quotatree.Load]
	for cursor.First(sums); ; cursor.Next() {
		p, ok := cursor.Item()
		if !ok {
			return list
		}
		list = append(list, p)
	}
}
