package decide

import (
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/internal/engine/usage"
)

// findByRules searches for victims after a search by policies that found none. All that
// the policies permit are taken; the rules then take others, until the request fits. In the end
// those that are not needed are put back, latest first, those of the policies too. If sums prove
// that the request is hopeless, no victims are sought.
func (s *Searcher) findByRules() (found bool) {
	core := &s.search
	if s.rules == nil {
		return false
	}
	alone := core.Request.Rules.Alone
	if core.OverPotential() {
		if alone {
			core.FailRules(usage.Victims)
		}
		return false
	}
	core.CollectLevels()
	refused := !alone && s.rules.Hopeless(core) != usage.Victims // alone the bounds are asked later
	if alone || refused {
		core.BeginRules()
	} else {
		s.takeAll()
	}
	switch {
	case s.rules.Take(core):
		core.PutBack(true, s.rules.Justified(core))
		return true
	case alone || refused:
		core.FailRules(s.rules.Hopeless(core))
	default:
		core.PutAllBack()
	}
	return false
}

// retryAt returns the first instant after now at which the request, which does not succeed now,
// succeeds by policies or rules if nothing but time changes; ok is false if there is none. With
// rules each instant at which anything may change is tried in turn, because triggers begin and
// cease to hold; where rules alone decide, the instants before the first fit are not. When more than Retry.MaxSteps workloads were looked at, the answer is the
// first instant that was not tried.
func (s *Searcher) retryAt() (at int64, ok bool) {
	core := &s.search
	r, now := core.Request, core.Now
	if s.rules == nil {
		return s.when.RetryAt(core, s.succeeds)
	}
	if core.OverPotential() || !r.Rules.Alone && s.rules.Hopeless(core) != usage.Victims {
		return 0, false
	}
	t := r.Trace
	t.Silence()
	defer t.Resume()
	defer core.BeginAt(now)
	spent := core.Steps
	if r.Rules.Alone {
		first, ever := s.rules.FirstFit(core)
		if !ever {
			return 0, false
		}
		core.BeginAt(max(now, first-1))
	}
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
