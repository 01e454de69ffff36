package decide

import (
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/internal/engine/usage"
)

// retryAt returns the first instant after now at which the request, which does not succeed now,
// succeeds by policies or rules if nothing but time changes; ok is false if there is none. With
// rules each instant at which anything may change is tried in turn, because triggers begin and
// cease to hold. When more than Retry.MaxSteps workloads were looked at, the answer is the first instant
// that was not tried.
func (s *Searcher) retryAt() (at int64, ok bool) {
	core := &s.search
	r, now := core.Request, core.Now
	if s.rules == nil {
		return s.when.RetryAt(core, s.succeeds)
	}
	if core.OverPotential() || s.rules.Hopeless(core) != usage.Victims {
		return 0, false
	}
	t := r.Trace
	t.Silence()
	defer t.Resume()
	defer core.BeginAt(now)
	spent := core.Steps
	for {
		if at, ok = s.nextChange(); !ok || r.Retry.Skip || core.Steps-spent > r.Retry.MaxSteps {
			return at, ok
		}
		core.BeginAt(at)
		found := s.succeeds() || s.findByRules()
		core.PutAllBack()
		if t != nil {
			t.AddAnyway(trace.Step{Kind: trace.Instant, At: at, Fits: found})
		}
		if found {
			return at, true
		}
	}
}

// nextChange returns the first instant after that of the search at which policies or rules may
// permit others.
func (s *Searcher) nextChange() (at int64, ok bool) {
	core := &s.search
	if !core.Request.Rules.Alone {
		at, ok = s.when.NextChange(core)
	}
	if s.rules != nil {
		if other, changes := s.rules.NextChange(core); changes && (!ok || other < at) {
			at, ok = other, true
		}
	}
	if other, changes := core.NextOfLimits(); changes && (!ok || other < at) {
		at, ok = other, true
	}
	return at, ok
}

// succeeds reports whether policies find victims at the instant of the search. None stay taken.
func (s *Searcher) succeeds() bool {
	core := &s.search
	core.BeginLimits()
	found := s.findByPolicies()
	if !found && core.Request.Better.Proves() && !core.Request.Rules.Alone && !core.OverPotential() {
		found = s.best.Exists(core)
		core.Steps += s.best.Looks() // so that the trials together are limited
	}
	core.PutAllBack()
	return found
}
