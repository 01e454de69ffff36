package search

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/quota"
)

// sortPhase takes all candidates of the phase out of the heap and puts those that free
// most first: the order of candidates, in which a small one may bring its queue back
// within nominal quota, would pass over the large one that alone is enough.
func (s *Search) sortPhase() {
	var all []Victim
	for {
		v, ok := s.next()
		if !ok {
			break
		}
		all = append(all, v)
	}
	s.SortBySize(all)
	slices.Reverse(all)
	s.merge.bySize = all
}

// nextBySize returns the next candidate whose queue has something left to reclaim.
func (s *Search) nextBySize() (v Victim, ok bool) {
	for m := &s.merge; len(m.bySize) > 0; {
		last := len(m.bySize) - 1
		v, m.bySize = m.bySize[last], m.bySize[:last]
		if !s.nothingToReclaim(&Donor{Queue: v.Queue, LCA: v.Cohort, Class: Hierarchical}) {
			return v, true
		}
	}
	return Victim{}, false
}

// SortBySize sorts candidates, which are in order, by what they free, most first; surplus
// replicas still come before whole workloads, which they are a part of.
func (s *Search) SortBySize(list []Victim) {
	slices.SortStableFunc(list, func(a, b Victim) int {
		if surplus := a.Set >= 0; surplus != (b.Set >= 0) {
			if surplus {
				return -1
			}
			return 1
		}
		return cmp.Compare(s.size(b), s.size(a))
	})
}

// size is how much of the request a victim frees, in thousandths of each amount that
// needs preemption, added up.
func (s *Search) size(v Victim) int64 {
	total := int64(0)
	for slot, needs := range s.Needs {
		amount := s.Request.Amounts[slot]
		if !needs || amount == 0 {
			continue
		}
		total += quota.Mul(1000, min(v.load(s.Request.Columns[slot]), amount)) / amount
	}
	return total
}
