package search

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/base/heap"
)

// Candidate is a unit that may yield while nobody has: a whole workload or one replica of a
// surplus.
type Candidate struct {
	Victim
	Class Class
	// Level is an index of Levels; -1 in the own queue. Victim.Side is the level's child that
	// is the victim's queue or above it; -1 in the own queue.
	Level int
}

// PermittedIn reports whether an attempt permits the candidate.
func (c *Candidate) PermittedIn(borrowing bool) bool {
	return !borrowing || c.Class != Priority || c.WhileBorrowing
}

// AppendCandidates appends the candidates of all attempts, in the documented order. Nobody may
// be taken, and the levels must be collected.
func (s *Search) AppendCandidates(list []Candidate) []Candidate {
	s.Request.Trace.Silence()
	defer s.Request.Trace.Resume()
	if s.Request.Fair.Enabled() {
		return s.appendOfDonors(list)
	}
	for n := range phases {
		s.openPhase(n, Mode{})
		for {
			v, ok := s.next()
			if !ok {
				break
			}
			list = append(list, s.candidate(v, phases[n].class))
		}
	}
	return list
}

// appendOfDonors does the same for fair sharing, where a cohort that borrows anything is
// enough.
func (s *Search) appendOfDonors(list []Candidate) []Candidate {
	donors := s.AppendDonors(nil)
	for n := range phases {
		s.merge.clear()
		ph, m := &phases[n], &s.merge
		for i := range donors {
			d := &donors[i]
			if p := s.Permission(d.Class, true); d.Class == ph.class && p != Nobody && s.hasTier(ph.tier) {
				s.pushLanes(d, ph, p)
			}
		}
		for len(m.heap) > 0 {
			at := int(m.heap[0].at)
			st := &m.streams[at]
			list = append(list, s.candidate(s.victim(st), ph.class))
			if s.advance(st) {
				m.heap[0] = s.itemOf(st, at)
				heap.Fix(m.heap, 0, before)
			} else {
				m.heap = heap.Drop(m.heap, before)
			}
		}
	}
	if len(s.Request.LocalQueueUsage) > 0 {
		s.sortOwnByUsage(list)
	}
	return list
}

// sortOwnByUsage is SortByUsage for those of the own queue, which keep their places among the
// others.
func (s *Search) sortOwnByUsage(list []Candidate) {
	slices.SortStableFunc(list, func(a, b Candidate) int {
		switch {
		case a.Workload.Facts.Evicted != b.Workload.Facts.Evicted:
			if a.Workload.Facts.Evicted {
				return -1
			}
			return 1
		case a.Class != b.Class:
			return cmp.Compare(a.Class, b.Class)
		case a.Class == Own:
			return cmp.Compare(s.usageOf(b.Victim), s.usageOf(a.Victim))
		}
		return 0
	})
}

func (s *Search) candidate(v Victim, class Class) Candidate {
	c := Candidate{v, class, -1}
	c.Side = -1
	for i := range s.Levels {
		if s.Levels[i].Cohort == v.Cohort {
			c.Level = i
		}
	}
	if c.Level < 0 {
		return c
	}
	for c.Side = v.Queue; s.View.Tree.Parent(c.Side) != v.Cohort; {
		c.Side = s.View.Tree.Parent(c.Side)
	}
	return c
}

// Attempts returns the attempts of the search, in order: whether each lets the request take
// its queue over its nominal quota.
func (s *Search) Attempts() (list []bool) {
	s.plan(func(borrowing bool) bool {
		list = append(list, borrowing)
		return false
	})
	return list
}
