package decide

import (
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/internal/engine/usage"
)

// findByRules searches for victims after a search by policies that found none. Everybody that
// the policies permit is taken; the rules then take others, until the request fits. In the end
// those that are not needed are put back, latest first, those of the policies too. If sums prove
// that the request is hopeless, nobody is sought.
func (s *Searcher) findByRules() (found bool) {
	core := &s.search
	if core.Request.Rules == nil {
		return false
	}
	alone := core.Request.RulesAlone
	if core.OverPotential() {
		if alone {
			core.FailRules(usage.Victims)
		}
		return false
	}
	core.CollectLevels()
	refused := !alone && core.Request.Rules.Hopeless(core) != usage.Victims // alone the bounds are asked later
	switch {
	case alone || refused:
		core.BeginRules()
	case core.Request.Fair.Enabled():
		core.Exhaust = true
		s.fair.Find(core, false)
		core.Exhaust = false
	default:
		core.TakeAll()
	}
	switch {
	case core.Request.Rules.Take(core):
		core.PutBack(true, core.Request.Rules.Justified(core))
		return true
	case alone || refused:
		core.FailRules(core.Request.Rules.Hopeless(core))
	default:
		core.PutAllBack()
	}
	return false
}

// retryAt returns the first instant after now at which the request, which does not succeed now,
// succeeds by policies or rules if nothing but time changes; ok is false if there is none. With
// rules each instant at which anything may change is tried in turn, because triggers begin and
// cease to hold; where rules alone decide, those before the first fit are not, nor the first fit if it
// is certain. When that has looked at more than MaxRetrySteps workloads, the answer is the first instant
// that was not tried.
func (s *Searcher) retryAt() (at int64, ok bool) {
	core := &s.search
	r, now := core.Request, core.Now
	if r.Rules == nil {
		return s.when.RetryAt(core, s.succeeds)
	}
	if core.OverPotential() || !r.RulesAlone && r.Rules.Hopeless(core) != usage.Victims {
		return 0, false
	}
	t := r.Trace
	t.Silence()
	defer t.Resume()
	defer func() { core.Now = now }()
	spent := core.Steps
	if r.RulesAlone {
		first, certain, ever := r.Rules.FirstFit(core)
		switch {
		case !ever:
			return 0, false
		case certain && first > now:
			if t != nil {
				t.AddAnyway(trace.Step{Kind: trace.Instant, At: first, Fits: true})
			}
			return first, true
		}
		core.Now = max(now, first-1)
	}
	for {
		if at, ok = s.nextChange(); !ok || r.SkipRetryAt || core.Steps-spent > r.MaxRetrySteps {
			return at, ok
		}
		core.Now = at
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
	if !core.Request.RulesAlone {
		at, ok = s.when.NextChange(core)
	}
	if core.Request.Rules != nil {
		if other, changes := core.Request.Rules.NextChange(core); changes && (!ok || other < at) {
			at, ok = other, true
		}
	}
	if other, changes := core.NextOfLimits(); changes && (!ok || other < at) {
		at, ok = other, true
	}
	return at, ok
}
