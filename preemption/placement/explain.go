package placement

import (
	"cmp"
	"math"
	"slices"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/nodes/unit"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
)

// What an explanation names: enough to see the pattern on a screen. The rest is counted.
const (
	explainedSamples = 4
	explainedDomains = 8
)

// Explain makes the same decision as [Preemptor.Decide], and says how it came about: which units may yield and which
// rule keeps the others, how the search went in the domains, and, if the answer is no, which changes would make it a
// yes ([Way]). Package preemption/explain turns an explanation into text.
//
// It looks once at each running unit, and decides up to some hundred times: it is for a person who asks, not for each
// decision. The error is that of Decide.
func (p *Preemptor) Explain(s *Snapshot, r Request) (Explanation, error) {
	if p == nil {
		p = &standard
	}
	x := explainer{kept: map[keptKey]int{}}
	d, err := p.Record(s, r, &trace.Recorder{Survey: true, To: x.step})
	if err != nil {
		return Explanation{}, err
	}
	x.e.Decision = d
	x.e.Question = Question{
		Group: r.Group, Pod: r.Pods[0].ID, Pods: len(r.Pods), MinCount: r.MinCount, Priority: r.Priority, Now: r.Now.Round(0),
	}
	slices.SortStableFunc(x.e.Kept, func(a, b Kept) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.SetBy, b.SetBy))
	})
	if d.Outcome == preemption.Fits { // a pod of a basic group that does not fit may have been surveyed for
		x.e.Kept, x.e.MayYield = nil, preemption.Counted{}
	}
	if !d.Outcome.Succeeds() {
		x.e.Ways = p.ways(s, r, &d)
	}
	return x.e, nil
}

// explainer makes an explanation of the steps of a decision.
type explainer struct {
	e    Explanation
	kept map[keptKey]int // index in Kept
	at   ExplainedDomain // being searched
}

type keptKey struct {
	rule  trace.Rule
	setBy int
}

func (x *explainer) step(s *trace.Step) {
	switch s.Kind {
	case trace.Judged:
		x.judged(s)
	case trace.Instant:
		x.e.Instants++
	case trace.DomainSkipped:
		x.e.Skipped++
	case trace.DomainBegins:
		x.at = ExplainedDomain{Name: s.Domain, WithinBudgets: s.Second}
		x.e.Searched++
	case trace.Placed:
		x.at.Placed, x.at.Needed = s.Count, s.Amount
	case trace.OverBudget:
		add(&x.at.OverBudget, unitName(s))
	case trace.PutBack:
		add(&x.at.PutBack, unitName(s))
	case trace.Improved:
		x.at.Better, x.at.StepVictims = true, s.Count
	case trace.DomainEnds:
		x.domain(s)
	case trace.Chosen:
		x.chosen(s)
	}
}

func add(n *preemption.Counted, name string) {
	if n.Count++; len(n.Samples) < explainedSamples {
		n.Samples = append(n.Samples, name)
	}
}

// unitName is the group that yields whole, or the pod.
func unitName(s *trace.Step) string {
	if s.Group != "" {
		return s.Group
	}
	return s.Workload
}

// domain ends a domain. The best so far is kept behind the first ones: it may be chosen.
func (x *explainer) domain(s *trace.Step) {
	d := x.at
	switch s.Found {
	case trace.NoVictims:
		d.Reason = ReasonNoVictims
		add(&x.e.NoVictims, s.Domain)
	case trace.NoRoom:
		d.Reason = ReasonNoRoom
		add(&x.e.NoRoom, s.Domain)
	case trace.Budgets:
		d.Reason = ReasonBudgets
		add(&x.e.BudgetsBar, s.Domain)
	case trace.Victims:
		add(&x.e.WithVictims, s.Domain)
		d.Victims, d.Violations = s.Count, s.Violations
		if s.Count > 0 {
			d.Highest = int32(s.Priority)
		}
	}
	switch best := s.Found == trace.Victims && s.Fits; {
	case len(x.e.Domains) < explainedDomains:
		x.e.Domains = append(x.e.Domains, d)
	case best && len(x.e.Domains) == explainedDomains:
		x.e.Domains = append(x.e.Domains, d)
	case best:
		x.e.Domains[explainedDomains] = d
	}
}

// chosen marks the domain that was chosen: the last one with that name.
func (x *explainer) chosen(s *trace.Step) {
	for i := len(x.e.Domains) - 1; i >= 0; i-- {
		if x.e.Domains[i].Name == s.Domain && x.e.Domains[i].Reason == 0 {
			x.e.Domains[i].Chosen = true
			return
		}
	}
}

var ruleOfStep = [...]Rule{
	trace.NotLower:    RulePriority,
	trace.MinRuntime:  RuleMinRuntime,
	trace.Guarded:     RuleGuarded,
	trace.Terminating: RuleTerminating,
}

// judged counts a unit.
func (x *explainer) judged(s *trace.Step) {
	if s.Rule == 0 {
		add(&x.e.MayYield, unitName(s))
		return
	}
	key := keptKey{s.Rule, s.SetBy}
	at, known := x.kept[key]
	if !known {
		at = len(x.e.Kept)
		x.kept[key] = at
		k := Kept{Rule: ruleOfStep[s.Rule]}
		if s.Rule == trace.MinRuntime {
			k.SetBy = [...]string{unit.Default: "default", unit.OwnPod: "pod", unit.OwnGroup: "group"}[s.SetBy]
		}
		x.e.Kept = append(x.e.Kept, k)
	}
	k := &x.e.Kept[at]
	add(&k.Counted, unitName(s))
	if s.Until < math.MaxInt64 {
		until := instant.Time(s.Until)
		if k.From.IsZero() || until.Before(k.From) {
			k.From = until
		}
		if until.After(k.Until) {
			k.Until = until
		}
	}
}
