package search

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/quota"
)

// sortPhase takes all candidates of the phase out of the heap and puts those that free
// most first: the order of candidates, in which a small one may bring its queue back
// within nominal quota, would pass over the large one that alone is enough.
func (s *Searcher) sortPhase() {
	var all []Victim
	for {
		v, ok := s.next()
		if !ok {
			break
		}
		all = append(all, v)
	}
	s.sortBySize(all)
	slices.Reverse(all)
	s.bySize = all
}

// nextBySize returns the next candidate whose queue has something left to reclaim.
func (s *Searcher) nextBySize() (v Victim, ok bool) {
	for len(s.bySize) > 0 {
		last := len(s.bySize) - 1
		v, s.bySize = s.bySize[last], s.bySize[:last]
		if !s.nothingToReclaim(donor{queue: v.queue, lca: v.Cohort, class: hierarchical}) {
			return v, true
		}
	}
	return Victim{}, false
}

// sortBySize sorts candidates, which are in order, by what they free, most first; surplus
// replicas still come before whole workloads, which they are a part of.
func (s *Searcher) sortBySize(list []Victim) {
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
func (s *Searcher) size(v Victim) int64 {
	total := int64(0)
	for slot, needs := range s.request.Needs {
		amount := s.request.Amounts[slot]
		if !needs || amount == 0 {
			continue
		}
		total += quota.Mul(1000, min(v.load(s.request.Columns[slot]), amount)) / amount
	}
	return total
}
