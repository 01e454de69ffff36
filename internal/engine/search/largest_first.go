package search

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/quota"
)

// sortPhase takes all candidates of the phase out of the heap and orders them by how much
// they free, most first. In the order of candidates a small one may bring its queue back
// within nominal quota, and the large one that alone is enough would be skipped.
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
	s.merge.sorted = all
}

// nextSorted returns the next candidate whose queue still has something to reclaim.
func (s *Search) nextSorted() (v Victim, ok bool) {
	for m := &s.merge; len(m.sorted) > 0; {
		last := len(m.sorted) - 1
		v, m.sorted = m.sorted[last], m.sorted[:last]
		d := Donor{Queue: v.Queue, LCA: v.Cohort, Class: Hierarchical}
		if v.Cohort < 0 {
			d.Class = Own
		}
		if !s.nothingToReclaim(&d) {
			return v, true
		}
		if t := s.Request.Trace; t != nil {
			s.traceWithinNominal(t, &d, v.Workload)
		}
	}
	return Victim{}, false
}

// SortBySize sorts candidates by how much they free, most first; ties keep their order.
// Surplus replicas stay before their whole workload.
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

// size returns how much of the request a victim frees: for each amount that needs preemption
// in thousandths of it, added up.
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
