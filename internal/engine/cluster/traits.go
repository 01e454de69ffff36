package cluster

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/internal/persist/ordered"
)

// traits counts the running workloads of each queue that have labels or priority classes that rules ask
// for. Nothing is counted of what they do not ask for. It is immutable; the zero value counts nothing.
type traits struct {
	numbers map[selectors.Trait]int32 // it stays as it is
	counts  ordered.Set[traitCount, none]
}

// traitCount is the number of workloads that have a trait in a queue; none has a zero.
type traitCount struct {
	trait, count int32
	queue        string // nodes have other numbers in another configuration
}

var traitOrder = &ordered.Order[traitCount, none]{Compare: func(a, b traitCount) int {
	return cmp.Or(cmp.Compare(a.trait, b.trait), cmp.Compare(a.queue, b.queue))
}}

// Counting returns the cluster with counts of the traits that have numbers. It keeps the map. It costs
// a look at each workload, or nothing if these are counted.
func (c *Cluster) Counting(numbers map[selectors.Trait]int32) *Cluster {
	if maps.Equal(c.traits.numbers, numbers) {
		return c
	}
	next := *c
	next.traits = traits{numbers, ordered.New(traitOrder)}
	if len(numbers) == 0 {
		next.traits = traits{}
		return &next
	}
	var list []traitCount
	counts := map[int32]int32{}
	for q := range c.Queues {
		clear(counts)
		for w := range c.running.At(q).Workloads {
			next.traits.each(w, func(trait int32) { counts[trait]++ })
		}
		for trait, count := range counts {
			list = append(list, traitCount{trait, count, c.Queues[q].Name})
		}
	}
	slices.SortFunc(list, traitOrder.Compare)
	next.traits.counts = ordered.Of(traitOrder, list)
	return &next
}

// change counts a workload that comes to a queue (1) or leaves it (-1); nil is none.
func (t *traits) change(w *Workload, queue string, by int32) {
	if w == nil {
		return
	}
	t.each(w, func(trait int32) {
		at := traitCount{trait: trait, queue: queue}
		if old, ok := t.counts.Get(func(c traitCount) int { return traitOrder.Compare(c, at) }); ok {
			at.count = old.count
		}
		if at.count += by; at.count > 0 {
			t.counts = t.counts.Insert(at)
		} else {
			t.counts, _ = t.counts.Delete(at)
		}
	})
}

// NextTrait returns the number of the first trait, from a number on, that some running workload has;
// ok is false if there is none.
func (c *Cluster) NextTrait(from int) (trait int, ok bool) {
	var cursor ordered.Cursor[traitCount, none]
	cursor.Seek(c.traits.counts, func(t traitCount) bool { return int(t.trait) < from })
	first, ok := cursor.Item()
	return int(first.trait), ok
}

// EachQueueWith calls yield with the nodes of the queues in which workloads have a trait, by name.
func (c *Cluster) EachQueueWith(trait int, yield func(node int)) {
	var cursor ordered.Cursor[traitCount, none]
	for cursor.Seek(c.traits.counts, func(t traitCount) bool { return int(t.trait) < trait }); ; cursor.Next() {
		t, ok := cursor.Item()
		if !ok || int(t.trait) != trait {
			return
		}
		node, _ := c.QueueNode(t.queue)
		yield(node)
	}
}

// each calls yield with the traits of a workload that are counted.
func (t *traits) each(w *Workload, yield func(trait int32)) {
	if len(t.numbers) == 0 || w.Facts.seldom == nil {
		return
	}
	for key, value := range w.Facts.seldom.labels {
		if n, counts := t.numbers[selectors.Trait{Key: key, Value: value}]; counts {
			yield(n)
		}
	}
	if n, counts := t.numbers[selectors.Trait{Value: w.Facts.seldom.priorityClass}]; counts {
		yield(n)
	}
}
