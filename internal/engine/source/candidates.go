package source

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
)

// Candidate is a unit that may yield while no victim is taken: a whole workload or one replica of
// a surplus.
type Candidate struct {
	right.Victim
	Class right.Class
	// Level is an index of the levels; -1 in the own queue. Victim.Side is the level's child that
	// is the victim's queue or above it; -1 in the own queue.
	Level int
}

// PermittedIn reports whether an attempt permits the candidate.
func (v *Candidate) PermittedIn(borrowing bool) bool {
	return !borrowing || v.Class != right.Priority || v.WhileBorrowing
}

// AppendCandidates appends the candidates of all attempts, in the documented order, at most so
// many. No victim may be taken, and the levels must be collected.
func (m *Merge) AppendCandidates(c *right.Case, list []Candidate, most int) []Candidate {
	c.Request.Trace.Silence()
	defer c.Request.Trace.Resume()
	if c.Request.Fair.Enabled() {
		return m.appendInFair(c, list, most)
	}
	for n := range phases {
		if len(list) >= most {
			break
		}
		m.Open(c, n, Mode{})
		for len(list) < most {
			v, ok := m.Next(c)
			if !ok {
				break
			}
			list = append(list, candidate(c, v, phases[n].class))
		}
	}
	return list
}

// appendInFair does the same for fair sharing, where a cohort that borrows anything is enough.
func (m *Merge) appendInFair(c *right.Case, list []Candidate, most int) []Candidate {
	from := len(list) // where the candidates of a class begin
	for n := range phases {
		if len(list) >= most && from == len(list) {
			break
		}
		m.OpenUsual(c, n, Mode{})
		for len(list) < most || ByUsage(c) {
			v, ok := m.NextAnyway(c)
			if !ok {
				break
			}
			list = append(list, candidate(c, v, phases[n].class))
		}
		if !LastTier(n) {
			continue
		}
		if ByUsage(c) {
			MergeByUsage(c, list[from:], func(v *Candidate) *right.Victim { return &v.Victim })
		}
		from = len(list)
	}
	return list[:min(len(list), most)]
}

// CandidateOf returns a victim as a candidate.
func CandidateOf(c *right.Case, v right.Victim) Candidate {
	of := candidate(c, v, right.Own)
	if of.Level >= 0 {
		of.Class = c.Levels[of.Level].Class
	}
	return of
}

// AppendReplicas appends the replicas of one surplus of a victim's workload that are not in the
// list.
func AppendReplicas(c *right.Case, list []Candidate, v *right.Victim, set int) []Candidate {
	surplus := &v.Workload.Surplus[set]
	if !slices.ContainsFunc(c.Request.Columns, surplus.Uses) {
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
		list = append(list, CandidateOf(c, of))
	}
	return list
}

func candidate(c *right.Case, v right.Victim, class right.Class) Candidate {
	of := Candidate{v, class, -1}
	of.Side = -1
	for i := range c.Levels {
		if c.Levels[i].Cohort == v.Cohort {
			of.Level = i
		}
	}
	if of.Level >= 0 {
		of.Side = c.Below(v.Cohort, v.Queue)
	}
	return of
}

// AnyPart reports whether some candidate may be replicas of a workload: surplus, or leaving.
func AnyPart(c *right.Case) bool { return anyIn(c, partLanes) }

// AnyLeaving reports whether a queue that may be asked has a workload that was told to leave.
func AnyLeaving(c *right.Case) bool { return anyIn(c, evictedLanes) }

// anyIn reports whether a queue that may be asked has a workload in one of the lanes.
func anyIn(c *right.Case, lanes []cluster.Lane) bool {
	own := c.Cluster.Running(c.Request.Queue)
	for _, lane := range lanes {
		if own.Lane(lane).Len() > 0 {
			return true
		}
		for i := range c.Levels {
			if c.Levels[i].Reach.Has(lane) {
				return true
			}
		}
	}
	return false
}
