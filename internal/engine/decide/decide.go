// Package decide makes a decision from the core of the search (package search), fair sharing
// (fair) and RetryAt (when).
package decide

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/exact"
	"github.com/cedesched/cede/internal/engine/fair"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/when"
)

// Searcher decides about requests, one at a time. The zero value is ready. It may be reused,
// by one goroutine at a time.
type Searcher struct {
	search search.Search
	fair   fair.Sharing
	when   when.Finder
	exact  exact.Solver
	// shortages are those of the decision; trials of other instants have their own.
	shortages []search.Shortage
}

// Result is the result of a search. Its slices belong to the searcher and are valid until its
// next use.
type Result struct {
	// Fits: no victim is needed.
	Fits bool
	// Victims is empty if the request fits without victims or does not succeed.
	Victims []search.Victim
	// BorrowHeight is the borrow height of the request without the victims.
	BorrowHeight int
	// Shortages and Blockers are set if the request neither fits nor has victims.
	Shortages []search.Shortage
	Blockers  []search.Blocker
	// NoRoom: without all workloads that may yield the quota is enough, but there is no room.
	NoRoom bool
	// RetryAt is, if Waits is true, the first instant at which time alone makes the request
	// succeed.
	RetryAt int64
	Waits   bool
	// ByRules: there are victims, and rules took some of them.
	ByRules bool
	// Proof is set if the exact search was made.
	Proof exact.Proof
	// History says, in a search for an explanation, how better victims were found.
	History *exact.History
	// Steps counts the workloads looked at.
	Steps int
}

// Search decides about a request. It lists at most maxBlockers blockers.
func (s *Searcher) Search(c *cluster.Cluster, r *search.Request, maxBlockers int) Result {
	core := &s.search
	core.Begin(c, r)
	if r.Rules != nil {
		r.Rules.Reset()
	}
	core.BeginLimits()
	fits := core.FitsAtFirst()
	if t := r.Trace; t != nil {
		core.TraceAsked(t, fits)
		if t.Survey && !fits {
			core.TraceSurvey(t)
		}
	}
	var result Result
	switch {
	case fits:
		result.Fits = true
	case s.findBest(&result):
		result.Victims = core.Taken
		core.PutRoomBack()
	default:
		s.explain(&result, maxBlockers)
		result.RetryAt, result.Waits = s.retryAt()
	}
	result.BorrowHeight = core.BorrowHeight()
	result.Steps = core.Steps
	core.End()
	return result
}

// Work returns, over all searches so far, how often it was asked whether the request fits, and
// how many nodes of the quota tree were copied.
func (s *Searcher) Work() (trials, copied int) { return s.search.Trials, s.search.View.Copied }

// NextChange returns the first instant after now at which the result of Search may change if
// nothing but time changes; ok is false if there is none.
func (s *Searcher) NextChange(c *cluster.Cluster, r *search.Request) (at int64, ok bool) {
	s.search.Begin(c, r)
	if r.Rules != nil {
		r.Rules.Reset()
	}
	if s.search.BeginLimits(); r.Limits != nil && !s.search.FitsAtFirst() {
		s.findBest(new(Result)) // to find the workloads that the limits refuse
		s.search.PutAllBack()
	}
	at, ok = s.nextChange()
	s.search.End()
	return at, ok
}

// findBest searches for victims and, if configured, for better ones.
func (s *Searcher) findBest(result *Result) (found bool) {
	core := &s.search
	if found = s.findByPolicies(); !core.Request.RulesAlone {
		found = s.improve(result, found)
	}
	if !found && s.findByRules() {
		found, result.Proof, result.ByRules = true, exact.Proof{}, true
	}
	return found
}

// improve searches for better victims, if configured.
func (s *Searcher) improve(result *Result, found bool) bool {
	core := &s.search
	switch {
	case core.Request.Effort == 0, found && core.AllLeave(): // they lose nothing
	case core.Request.Effort == search.Exchange:
		if found {
			core.Request.Trace.Silence()
			result.History = s.exact.Exchange(core)
			core.Request.Trace.Resume()
		}
	case core.OverPotential():
		result.Proof.Optimal = true // nobody can help
		if core.Request.Certificate {
			result.Proof.Certificate = s.exact.CertifyNobody(core)
		}
	default:
		core.Request.Trace.Silence()
		if found, result.Proof = s.exact.Best(core, found); !found {
			core.NoteLimits()
		}
		result.History = result.Proof.History
		core.Request.Trace.Resume()
	}
	return found
}

// findByPolicies searches for victims; if configured, a second time with the largest first.
func (s *Searcher) findByPolicies() bool {
	r := s.search.Request
	return !r.RulesAlone && (s.findInOrder(false) || r.LargestFirst && s.findInOrder(true))
}

func (s *Searcher) findInOrder(largestFirst bool) bool {
	core := &s.search
	core.CollectLevels()
	if t := core.Request.Trace; t != nil && !largestFirst { // then they are the same
		core.TraceLevels(t)
	}
	switch {
	case core.OverPotential():
		if t := core.Request.Trace; t != nil {
			core.TraceHopeless(t, true)
		}
		core.NoteHopeless()
		return false
	case !largestFirst && !core.Request.Forecast && core.AnyLeaving() && !s.findsLeaving() && core.FindLeaving():
		return true
	}
	return s.find(largestFirst)
}

func (s *Searcher) find(largestFirst bool) bool {
	if s.search.Request.Fair.Enabled() {
		return s.fair.Find(&s.search, largestFirst)
	}
	return s.search.Find(largestFirst)
}

// findsLeaving reports whether the search in order finds victims that all were told to stop before.
func (s *Searcher) findsLeaving() bool {
	core := &s.search
	core.Request.Trace.Silence()
	defer core.Request.Trace.Resume()
	leave := s.find(false) && core.AllLeave()
	core.PutAllBack()
	return leave
}

// succeeds reports whether there are victims at the Now of the search. It leaves the search
// unchanged.
func (s *Searcher) succeeds() bool {
	s.search.BeginLimits()
	found := s.findByPolicies()
	if !found && s.search.Request.Effort == search.Exact && !s.search.Request.RulesAlone && !s.search.OverPotential() {
		found = s.exact.Exists(&s.search)
	}
	s.search.PutAllBack()
	return found
}

// explain says why the request does not fit. If the quota was enough in some attempt, only
// the room is short.
func (s *Searcher) explain(result *Result, maxBlockers int) {
	why := &s.search.WhyNot
	if l := s.search.Request.Limits; l != nil {
		l.Explained()
	}
	if why.NoRoom {
		why.Shortages = why.Shortages[:0]
	}
	if !s.search.Request.RulesAlone { // blockers are about policies
		result.Blockers = s.search.FindBlockers(maxBlockers)
	}
	s.shortages = append(s.shortages[:0], why.Shortages...)
	result.Shortages, result.NoRoom = s.shortages, why.NoRoom
}
