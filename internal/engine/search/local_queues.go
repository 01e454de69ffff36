package search

import (
	"cmp"
	"slices"
)

// SortByUsage sorts candidates of the own queue by the usage of their local queues, most first,
// those being evicted before the others; ties keep their order. (Kueue's admission fair
// sharing, KEP-4136. That it is after the evicted ones, before priority, in the preemptor's own
// queue only, is our reading: the KEP is about the order of admission.)
func (s *Search) SortByUsage(list []Victim) {
	slices.SortStableFunc(list, func(a, b Victim) int {
		if evicted := a.Workload.Facts.Evicted; evicted != b.Workload.Facts.Evicted {
			if evicted {
				return -1
			}
			return 1
		}
		return cmp.Compare(s.usageOf(b), s.usageOf(a))
	})
}

// usageOf returns the usage of the local queue of a victim; zero if it is not given.
func (s *Search) usageOf(v Victim) float64 {
	return s.Request.LocalQueueUsage[v.Workload.Facts.LocalQueue()]
}

// byUsage reports whether the candidates of a phase are ordered by the usage of their local
// queues.
func (s *Search) byUsage(n int) bool {
	return len(s.Request.LocalQueueUsage) > 0 && phases[n].class == Own
}

// openByUsage opens the tiers of the own queue as one, from the phase of the first tier.
func (s *Search) openByUsage(n int, mode Mode) {
	s.merge.clear()
	if phases[n].tier != everybody {
		return // opened with the first tier
	}
	var all []Victim
	for tier := everybody; tier <= newerEquals; tier++ {
		s.openPhase(n+int(tier), mode)
		for v, ok := s.next(); ok; v, ok = s.next() {
			all = append(all, v)
		}
	}
	if t := s.Request.Trace; t != nil {
		s.tracePhase(t, &phases[n], s.Permission(Own, mode.Borrowing)) // the steps that follow are of all tiers
	}
	s.SortByUsage(all)
	slices.Reverse(all)
	s.merge.sorted = all
}
