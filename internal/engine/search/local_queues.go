package search

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/base/heap"
)

// SortByUsage sorts the candidates of one queue by the usage of their local queues, most first,
// those being evicted before the others; ties keep their order. (Kueue's admission fair
// sharing, KEP-4136, as Kueue orders candidates.)
func (s *Search) SortByUsage(list []Victim) {
	slices.SortStableFunc(list, func(a, b Victim) int {
		if evicted := a.Workload.Facts.Evicted; evicted != b.Workload.Facts.Evicted {
			if evicted {
				return -1
			}
			return 1
		}
		return cmp.Compare(s.usageOf(&b), s.usageOf(&a))
	})
}

// usageOf returns the usage of the local queue of a victim; zero if it is not given.
func (s *Search) usageOf(v *Victim) float64 {
	return s.Request.LocalQueueUsage[v.Workload.Facts.LocalQueue()]
}

// byUsage reports whether candidates are ordered by the usage of their local queues.
func (s *Search) byUsage() bool { return len(s.Request.LocalQueueUsage) > 0 }

// openByUsage opens a phase in the order by usage. The tiers of the own queue are one, from the
// phase of the first tier.
func (s *Search) openByUsage(n int, mode Mode) {
	s.merge.clear()
	ph := &phases[n]
	if ph.tier != everybody {
		return // opened with the first tier
	}
	last := n
	if ph.class == Own {
		last += int(newerEquals)
	}
	var all []Victim
	for of := n; of <= last; of++ {
		s.openPhase(of, Mode{Borrowing: mode.Borrowing})
		for v, ok := s.next(); ok; v, ok = s.next() {
			all = append(all, v)
		}
	}
	if t := s.Request.Trace; t != nil && ph.class == Own {
		s.tracePhase(t, ph, s.Permission(Own, mode.Borrowing)) // the steps that follow are of all tiers
	}
	mergeByUsage(s, all, func(v *Victim) *Victim { return v })
	if mode.LargestFirst && ph.class != Own {
		s.SortBySize(all)
	}
	slices.Reverse(all)
	s.merge.sorted = all
}

// lastTier reports whether a phase is the last of its class among those with the same lanes.
func lastTier(n int) bool { return phases[n].class != Own || phases[n].tier == newerEquals }

// mergeByUsage puts the candidates of one class, given in the usual order, in that by usage: each
// queue's by the usage of their local queues, most first; the queues are merged in the usual order
// of their next candidates.
func mergeByUsage[E any](s *Search, list []E, victim func(*E) *Victim) {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		v, w := victim(&list[a]), victim(&list[b])
		return cmp.Or(cmp.Compare(v.Queue, w.Queue), cmp.Compare(s.usageOf(w), s.usageOf(v)))
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
