// Package decide makes a decision: it asks the search in order (package search, with fair), the
// search for better victims (best), the rules (rules), and if no victims are found why (why) and
// until when (when).
package decide

import (
	"github.com/cedesched/cede/internal/engine/best"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/rules"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/why"
)

// Result is the result of a search. Its slices belong to the searcher and are valid until its
// next use.
type Result struct {
	// Fits: no victim is needed.
	Fits bool
	// Awaits: once what terminates in the room is gone, and the victims, who are leaving too, the request fits.
	Awaits bool
	// Victims is empty if the request fits without victims or does not succeed.
	Victims []right.Victim
	// BorrowHeight is the borrow height of the request without the victims.
	BorrowHeight int
	// Shortages and Blockers are set if the request neither fits nor has victims.
	Shortages []search.Shortage
	Blockers  []why.Blocker
	// NoRoom: without all workloads that may yield the quota is enough, but there is no room.
	NoRoom bool
	// RetryAt is, if Waits is true, the first instant at which time alone makes the request
	// succeed.
	RetryAt int64
	Waits   bool
	// ByRules: there are victims, and rules took some of them.
	ByRules bool
	// Proof is set if the search Best was made.
	Proof best.Proof
	// History says, in a search for an explanation, how better victims were found.
	History *best.History
	// Steps counts the workloads looked at.
	Steps int
}

// begin begins with a request, at its instant.
func (s *Searcher) begin(c *cluster.Cluster, r *right.Request, by *rules.Taker) {
	s.rules = by
	s.search.Begin(c, r)
	if by != nil {
		by.Reset()
	}
	s.search.BeginLimits()
}

// Search decides about a request. by has the rules of its queue, ready for the request; nil: there
// are none. It lists at most maxBlockers blockers.
func (s *Searcher) Search(c *cluster.Cluster, r *right.Request, by *rules.Taker, maxBlockers int) Result {
	core := &s.search
	s.begin(c, r, by)
	fits := core.FitsAtFirst() && !right.OverFixed(&core.Case)
	if t := r.Trace; t != nil {
		core.TraceAsked(t, fits)
		if t.Survey && !fits {
			why.Survey(t, core)
		}
	}
	var result Result
	switch {
	case fits:
		result.Fits = true
	case right.OverFixed(&core.Case):
		s.shortages = append(s.shortages[:0], core.FixedShortages()...)
		result.Shortages = s.shortages
	case s.findBest(&result):
		result.Victims, result.Awaits = core.Taken, core.Awaits
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
func (s *Searcher) NextChange(c *cluster.Cluster, r *right.Request, by *rules.Taker) (at int64, ok bool) {
	if s.begin(c, r, by); r.Limits != nil && !s.search.FitsAtFirst() {
		s.findBest(new(Result)) // to find the workloads that the limits refuse
		s.search.PutAllBack()
	}
	at, ok = s.nextChange()
	s.search.End()
	return at, ok
}

// FixedShortages returns what a request that never yields lacks of the quotas that its shares guarantee.
func (s *Searcher) FixedShortages(c *cluster.Cluster, r *right.Request) []search.Shortage {
	s.begin(c, r, nil)
	defer s.search.End()
	return s.search.FixedShortages()
}

// findBest searches for victims and, if configured, for better ones.
func (s *Searcher) findBest(result *Result) (found bool) {
	core := &s.search
	if s.failedAlone() {
		return false
	}
	if found = s.findByPolicies(); !core.Request.Rules.Alone {
		found = s.improve(result, found)
	}
	if !found && s.findByRules() {
		found, result.Proof, result.ByRules = true, best.Proof{}, true
	}
	return found
}

// improve searches for better victims, if configured.
func (s *Searcher) improve(result *Result, found bool) bool {
	core := &s.search
	t, better := core.Request.Trace, &core.Request.Better
	switch {
	case !better.Best, found && (core.Awaits || core.AllLeave()): // they lose nothing
	case !better.Proves() && !found: // nothing to exchange
	case better.Proves() && core.OverPotential():
		result.Proof.Optimal = true // no victims can help
	default:
		t.Silence()
		if found, result.Proof, result.History = s.best.Best(core, found); !found {
			s.noteLimits()
		}
		t.Resume()
	}
	return found
}

// noteLimits lets the limits note which candidates they refuse if all others yield, in the
// documented order. No victim may be taken.
func (s *Searcher) noteLimits() {
	core := &s.search
	if core.Request.Limits == nil {
		return
	}
	for _, v := range core.Source.AppendCandidates(&core.Case, nil, noLimit) {
		if !core.Limited(&v.Victim) {
			core.Taken = append(core.Taken, v.Victim)
		}
	}
	core.Taken = core.Taken[:0]
}

const noLimit = int(^uint(0) >> 1)

// explain says why the request does not fit. If the quota was enough in some attempt, only
// the room is short.
func (s *Searcher) explain(result *Result, maxBlockers int) {
	core := &s.search
	if l := core.Request.Limits; l != nil {
		l.Explained()
	}
	if core.WhyNot.NoRoom {
		core.WhyNot.Shortages = core.WhyNot.Shortages[:0]
	}
	if !core.Request.Rules.Alone { // blockers are those of policies
		if s.rules != nil {
			s.why.Rules = s.rules
		}
		result.Blockers = s.why.Blockers(core, maxBlockers)
	}
	s.shortages = append(s.shortages[:0], core.WhyNot.Shortages...)
	result.Shortages, result.NoRoom = s.shortages, core.WhyNot.NoRoom
}
