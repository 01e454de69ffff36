package explain

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/unit"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
)

// maxDomains is how many domains an explanation names.
const maxDomains = 8

// ExplainPlacement is [Explain] for a decision about nodes: which units may yield and which rule keeps the others, how
// the search went in the domains, and, if the answer is no, which changes would make it a yes. [PlacementText] turns
// it into a page. It looks once at each running unit. The error is that of [placement.Preemptor.Decide].
func ExplainPlacement(p *placement.Preemptor, s *placement.Snapshot, r placement.Request) (PlacementExplanation, error) {
	x := placementExplainer{kept: map[keptKey]int{}}
	config := p.Config()
	recorded := config
	recorded.Guards = append(recorded.Guards, nodesNotebook{Recorder: &trace.Recorder{Survey: true, To: x.step}})
	recording, err := placement.New(recorded)
	if err != nil {
		return PlacementExplanation{}, err // the configuration was valid
	}
	d, err := recording.Decide(s, r)
	if err != nil {
		return PlacementExplanation{}, err
	}
	x.e.Decision = d
	x.e.Question = PlacementQuestion{
		Group: r.Group, Pod: r.Pods[0].ID, Pods: len(r.Pods), MinCount: r.MinCount, Priority: r.Priority, Now: r.Now.Round(0),
		MinGroups: r.MinGroups, Nested: slices.Clone(r.Nested),
	}
	sortKept(x.e.Kept)
	if d.Outcome == preemption.Fits { // a pod of a basic group that does not fit may have been surveyed for
		x.e.Kept, x.e.MayYield = nil, Counted{}
	}
	if !d.Outcome.Succeeds() {
		x.e.Ways = placementWays(&config, s, &r, &d)
	}
	return x.e, nil
}

// nodesNotebook is a notebook for decisions about nodes.
type nodesNotebook struct {
	placement.Guard
	*trace.Recorder
}

// placementExplainer makes an explanation of the steps of a decision.
type placementExplainer struct {
	e    PlacementExplanation
	kept map[keptKey]int // index in Kept
	at   ExplainedDomain // being searched
}

func (x *placementExplainer) step(s *trace.Step) {
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
		x.at.OverBudget.add(unitName(s))
	case trace.PutBack:
		x.at.PutBack.add(unitName(s))
	case trace.DomainEnds:
		x.domain(s)
	case trace.Chosen:
		x.chosen(s)
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
func (x *placementExplainer) domain(s *trace.Step) {
	d := x.at
	switch s.Found {
	case trace.NoVictims:
		d.Reason = placement.ReasonNoVictims
		x.e.NoVictims.add(s.Domain)
	case trace.NoRoom:
		d.Reason = placement.ReasonNoRoom
		x.e.NoRoom.add(s.Domain)
	case trace.Budgets:
		d.Reason = placement.ReasonBudgets
		x.e.BudgetsBar.add(s.Domain)
	case trace.Victims:
		x.e.WithVictims.add(s.Domain)
		d.Victims, d.Violations = s.Count, s.Violations
		if s.Count > 0 {
			d.Highest = int32(s.Priority)
		}
	}
	switch best := s.Found == trace.Victims && s.Fits; {
	case len(x.e.Domains) < maxDomains:
		x.e.Domains = append(x.e.Domains, d)
	case best && len(x.e.Domains) == maxDomains:
		x.e.Domains = append(x.e.Domains, d)
	case best:
		x.e.Domains[maxDomains] = d
	}
}

// chosen marks the domain that was chosen: the last one with that name.
func (x *placementExplainer) chosen(s *trace.Step) {
	for i := len(x.e.Domains) - 1; i >= 0; i-- {
		if x.e.Domains[i].Name == s.Domain && x.e.Domains[i].Reason == 0 {
			x.e.Domains[i].Chosen = true
			return
		}
	}
}

var unitRuleOfStep = [...]placement.Rule{
	trace.NotLower:    placement.RulePriority,
	trace.MinRuntime:  placement.RuleMinRuntime,
	trace.Guarded:     placement.RuleGuarded,
	trace.Terminating: placement.RuleTerminating,
}

// judged counts a unit.
func (x *placementExplainer) judged(s *trace.Step) {
	if s.Rule == 0 {
		x.e.MayYield.add(unitName(s))
		return
	}
	countKept(x.kept, &x.e.Kept, s, unitName(s), true, func() Kept[placement.Rule] {
		k := Kept[placement.Rule]{Rule: unitRuleOfStep[s.Rule]}
		if s.Rule == trace.MinRuntime {
			k.SetBy = [...]string{unit.Default: "default", unit.OwnPod: "pod", unit.OwnGroup: "group"}[s.SetBy]
		}
		return k
	})
}
