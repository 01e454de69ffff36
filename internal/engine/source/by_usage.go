package source

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/engine/right"
)

// The order by usage of local queues (Kueue's admission fair sharing, KEP-4136, as Kueue orders
// candidates): the candidates of each queue by the usage of their local queues, most first.

// ByUsage reports whether candidates are in that order.
func ByUsage(c *right.Case) bool { return len(c.Request.LocalQueueUsage) > 0 }

// SortByUsage sorts the candidates of one queue, those being evicted before the others; ties keep
// their order.
func SortByUsage(c *right.Case, list []right.Victim) {
	slices.SortStableFunc(list, func(a, b right.Victim) int {
		if evicted := a.Workload.Facts.Evicted; evicted != b.Workload.Facts.Evicted {
			if evicted {
				return -1
			}
			return 1
		}
		return cmp.Compare(usageOf(c, &b), usageOf(c, &a))
	})
}

// usageOf returns the usage of the local queue of a candidate; zero if it is not given.
func usageOf(c *right.Case, v *right.Victim) float64 {
	return c.Request.LocalQueueUsage[v.Workload.Facts.LocalQueue()]
}

// openByUsage opens a phase. The tiers of the own queue are one, from the phase of the first tier.
func (m *Merge) openByUsage(c *right.Case, n int, mode Mode) {
	m.Clear()
	ph := &phases[n]
	if ph.tier != everyWorkload {
		return // opened with the first tier
	}
	last := n
	if ph.class == right.Own {
		last += int(newerEquals)
	}
	var all []right.Victim
	for of := n; of <= last; of++ {
		m.OpenUsual(c, of, Mode{Borrowing: mode.Borrowing})
		all = m.rest(c, all)
	}
	if t := c.Request.Trace; t != nil && ph.class == right.Own {
		tracePhase(t, c, ph, c.Permission(right.Own, mode.Borrowing)) // the steps that follow are of all tiers
	}
	MergeByUsage(c, all, func(v *right.Victim) *right.Victim { return v })
	slices.Reverse(all)
	m.sorted = all
}

// MergeByUsage puts the candidates of one class, given in the usual order, in that by usage. The
// queues are merged in the usual order of their next candidates.
func MergeByUsage[E any](c *right.Case, list []E, victim func(*E) *right.Victim) {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		v, w := victim(&list[a]), victim(&list[b])
		return cmp.Or(cmp.Compare(v.Queue, w.Queue), cmp.Compare(usageOf(c, w), usageOf(c, v)))
	})
	var queues [][]int
	next := func(a, b *[]int) bool { return (*a)[0] < (*b)[0] }
	for from, i := 0, 1; i <= len(order); i++ {
		if i == len(order) || victim(&list[order[i]]).Queue != victim(&list[order[from]]).Queue {
			queues = heap.Push(queues, order[from:i], next)
			from = i
		}
	}
	usual := slices.Clone(list)
	for i := range list {
		first := queues[0]
		list[i] = usual[first[0]]
		if first = first[1:]; len(first) > 0 {
			queues[0] = first
			heap.Fix(queues, 0, next)
		} else {
			queues = heap.Drop(queues, next)
		}
	}
}
