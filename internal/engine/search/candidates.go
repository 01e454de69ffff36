package search

import (
	"slices"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/engine/cluster"
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

// AppendCandidates appends the candidates of all attempts, in the documented order, at most so
// many. Nobody may be taken, and the levels must be collected.
func (s *Search) AppendCandidates(list []Candidate, most int) []Candidate {
	s.Request.Trace.Silence()
	defer s.Request.Trace.Resume()
	if s.Request.Fair.Enabled() {
		return s.appendInFair(list, most)
	}
	for n := range phases {
		if len(list) >= most {
			break
		}
		s.openInOrder(n, Mode{})
		for len(list) < most {
			v, ok := s.next()
			if !ok {
				break
			}
			list = append(list, s.candidate(v, phases[n].class))
		}
	}
	return list
}

// appendInFair does the same for fair sharing, where a cohort that borrows anything is enough.
func (s *Search) appendInFair(list []Candidate, most int) []Candidate {
	from := len(list) // where the candidates of a class begin
	for n := range phases {
		if len(list) >= most && from == len(list) {
			break
		}
		s.openPhase(n, Mode{})
		for (len(list) < most || s.byUsage()) && s.settleHeap() {
			list = append(list, s.candidate(s.pop(), phases[n].class))
		}
		if !lastTier(n) {
			continue
		}
		if s.byUsage() {
			mergeByUsage(s, list[from:], func(c *Candidate) *Victim { return &c.Victim })
		}
		from = len(list)
	}
	return list[:min(len(list), most)]
}

// pop returns the candidate at the top of the heap, whether or not its queue still borrows.
func (s *Search) pop() Victim {
	m := &s.merge
	at := int(m.heap[0].at)
	st := &m.streams[at]
	v := s.victim(st)
	if s.advance(st) {
		m.heap[0] = s.itemOf(st, at)
		heap.Fix(m.heap, 0, before)
	} else {
		m.heap = heap.Drop(m.heap, before)
	}
	return v
}

// CandidateOf returns a victim as a candidate.
func (s *Search) CandidateOf(v Victim) Candidate {
	c := s.candidate(v, Own)
	if c.Level >= 0 {
		c.Class = s.Levels[c.Level].Class
	}
	return c
}

// AppendReplicas appends the replicas of one surplus of a victim's workload that are not in the
// list.
func (s *Search) AppendReplicas(list []Candidate, v *Victim, set int) []Candidate {
	surplus := &v.Workload.Surplus[set]
	if !slices.ContainsFunc(s.Request.Columns, surplus.Uses) {
		return list
	}
	more := surplus.Count
	for i := range list {
		if list[i].Workload == v.Workload && list[i].Set == set {
			more--
		}
	}
	for range more {
		of := *v
		of.Set, of.Count = set, 1
		list = append(list, s.CandidateOf(of))
	}
	return list
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

// AnyPart reports whether some candidate may be replicas of a workload: surplus, or leaving.
func (s *Search) AnyPart() bool { return s.anyIn(partLanes[:]) }

// partLanes are the lanes that may hold replicas.
var partLanes = [...]cluster.Lane{cluster.SurplusReserved, cluster.SurplusUnreserved, cluster.Evicted, cluster.EvictedUnreserved}

// anyIn reports whether a queue that may be asked has a workload in one of the lanes.
func (s *Search) anyIn(lanes []cluster.Lane) bool {
	own := s.Cluster.Running(s.Request.Queue)
	for _, lane := range lanes {
		if own.Lane(lane).Len() > 0 {
			return true
		}
		for i := range s.Levels {
			if s.Levels[i].Reach.Has(lane) {
				return true
			}
		}
	}
	return false
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
