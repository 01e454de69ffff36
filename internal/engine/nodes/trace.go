package nodes

import "github.com/cedesched/cede/internal/engine/trace"

// What the hooks of the recorder write down.

var (
	traceRule  = [...]trace.Rule{GuaranteedRuntime: trace.MinRuntime, Guarded: trace.Guarded, Terminating: trace.Terminating}
	traceFound = [...]trace.Found{noVictims: trace.NoVictims, noRoom: trace.NoRoom, budgetsBar: trace.Budgets, found: trace.Victims}
)

// stepOf is a step about a unit.
func stepOf(kind trace.Kind, u *Unit, why trace.Reason) trace.Step {
	return trace.Step{Kind: kind, Workload: u.Pods[0].Facts.ID, Group: u.Group, Count: int64(len(u.Pods)), Priority: int64(u.Priority), Reason: why}
}

// replaced is whether a unit is put back when the pods are placed again.
func replaced(u *Unit, fits bool) trace.Step {
	if fits {
		return stepOf(trace.PutBack, u, 0)
	}
	return stepOf(trace.Kept, u, trace.DoesNotFit)
}

// traceKept notes that a rule keeps a unit from yielding.
func (s *Searcher) traceKept(t *trace.Recorder, u *Unit) {
	rule, until := s.keptFor(u)
	step := stepOf(trace.Skipped, u, 0)
	step.Rule, step.Until = traceRule[rule], until
	t.Add(step)
}

// traceOverBudget notes the units that violate a budget.
func (s *Searcher) traceOverBudget(t *trace.Recorder, violating []*Unit) {
	for _, u := range violating {
		step := stepOf(trace.OverBudget, u, 0)
		step.Violations = s.violations[u]
		t.Add(step)
	}
}

// traceDomain notes that the search in a domain begins, is not needed, or ends without
// victims.
func (s *Searcher) traceDomain(t *trace.Recorder, kind trace.Kind, d span, v verdict) {
	t.Add(trace.Step{Kind: kind, Domain: s.domainName(d), Found: traceFound[v]})
}

// traceRating notes the victims of a domain, and whether it is the best so far.
func (s *Searcher) traceRating(t *trace.Recorder, d span, rating score, best bool) {
	t.Add(trace.Step{
		Kind: trace.DomainEnds, Domain: s.domainName(d), Found: trace.Victims, Fits: best,
		Count: int64(len(s.victims)), Violations: rating.violations, Priority: int64(rating.highest),
	})
}

// What a unit's minimum runtime is set by, as Step.SetBy of a survey.
const (
	SetByDefault = iota
	SetByPod
	SetByGroup
)

// traceSurvey notes of each unit that runs which rule keeps it from yielding, if any.
func (s *Searcher) traceSurvey(t *trace.Recorder) {
	for _, whole := range s.c.Units() {
		u := whole
		if !s.asBuilt { // without pods that terminate
			u = nil
			for i := 0; u == nil && i < len(whole.Pods); i++ {
				u = s.unitOf(whole.Pods[i])
			}
		}
		t.Add(s.judge(whole, u))
	}
}

// judge returns the rule that keeps a unit from yielding. u is the unit without pods that
// terminate; nil if there are none.
func (s *Searcher) judge(whole, u *Unit) trace.Step {
	step := stepOf(trace.Judged, whole, 0)
	step.Until = never
	switch {
	case whole.Priority >= s.priority:
		step.Rule = trace.NotLower
	case u == nil:
		step.Rule = trace.Terminating
	default:
		rule, until := s.keptFor(u)
		if step.Rule, step.Until = traceRule[rule], until; rule == GuaranteedRuntime {
			b := Blocker{Unit: u, Until: until}
			switch s.setBy(&b); {
			case b.OfPod:
				step.SetBy = SetByPod
			case b.OfGroup:
				step.SetBy = SetByGroup
			}
		}
	}
	return step
}
