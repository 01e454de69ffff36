package search

import (
	"github.com/cedesched/cede/internal/engine/nodes/place"
	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/internal/engine/nodes/unit"
	"github.com/cedesched/cede/internal/engine/trace"
)

// What the steps tell a recorder. Nothing here changes the search.

var tracedRules = [...]trace.Rule{
	unit.Priority: trace.NotLower, unit.MinRuntime: trace.MinRuntime,
	unit.Guarded: trace.Guarded, unit.Terminating: trace.Terminating,
}

// stepOf is a step about a unit.
func stepOf(kind trace.Kind, u *state.Unit) trace.Step {
	return trace.Step{Kind: kind, Workload: u.Pods[0].Facts.ID, Group: u.Group, Count: int64(len(u.Pods)), Place: trace.Place{Priority: int64(u.Priority)}}
}

// notePutBack notes that a unit need not yield.
func (s *steps) notePutBack(u *state.Unit) {
	if t := s.trace; t != nil {
		t.Add(stepOf(trace.PutBack, u))
	}
}

// noteProtected notes that a rule keeps a unit from yielding.
func (s *steps) noteProtected(u *state.Unit, v unit.Verdict) {
	if t := s.trace; t != nil {
		step := stepOf(trace.Skipped, u)
		step.Rule, step.Until = tracedRules[v.Rule], v.Until
		t.Add(step)
	}
}

// noteOverBudget notes the units that violate a budget.
func (s *steps) noteOverBudget(list []*state.Unit) {
	if t := s.trace; t != nil {
		for _, u := range list {
			step := stepOf(trace.OverBudget, u)
			step.Violations = s.Violations(u)
			t.Add(step)
		}
	}
}

// notePlaced notes how many members have a place without all units that may yield.
func (s *steps) notePlaced(placed int) {
	if t := s.trace; t != nil {
		t.Add(trace.Step{Kind: trace.Placed, Count: int64(placed), Amount: int64(s.AtLeast), Fits: placed >= s.AtLeast})
	}
}

// noteDomain notes that the search in a domain begins, is not needed, or ends without victims.
func (s *steps) noteDomain(kind trace.Kind, d room.Domain, found trace.Found) {
	if t := s.trace; t != nil {
		t.Add(trace.Step{Kind: kind, Place: trace.Place{Domain: s.DomainName(d), Found: found}})
	}
}

// noteRefused notes a domain that sums refuse as if it was searched.
func (s *steps) noteRefused(d room.Domain, found trace.Found) {
	s.noteDomain(trace.DomainBegins, d, 0)
	if found == trace.NoRoom {
		s.notePlaced(0)
	}
}

// noteRating notes the victims of a domain, and whether it is the best so far.
func (s *steps) noteRating(d room.Domain, score place.Score, best bool) {
	if t := s.trace; t != nil {
		t.Add(trace.Step{Kind: trace.DomainEnds, Place: trace.Place{Domain: s.DomainName(d), Found: trace.Victims, Violations: int(score.Violations), Priority: int64(score.Highest)}, Fits: best, Count: int64(len(s.victims))})
	}
}

// noteFits notes whether something fits.
func (s *steps) noteFits(kind trace.Kind, fits bool) {
	if t := s.trace; t != nil {
		t.Add(trace.Step{Kind: kind, Fits: fits})
	}
}

// noteSurvey notes of each unit that runs which rule keeps it from yielding, if any.
func (s *steps) noteSurvey(t *trace.Recorder) {
	for _, whole := range s.Cluster.Units() {
		u, v := s.VerdictOf(whole.Pods[0], s.Now)
		for _, p := range whole.Pods[1:] { // some pods may terminate
			if v.Rule == unit.Terminating {
				u, v = s.VerdictOf(p, s.Now)
			}
		}
		step := stepOf(trace.Judged, whole)
		step.Rule, step.Until = tracedRules[v.Rule], v.Until
		if v.Rule == unit.MinRuntime {
			_, source := s.SetBy(u, v.Until)
			step.SetBy = int(source)
		}
		t.Add(step)
	}
}
