package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/internal/engine/nodes/unit"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
)

// ExplainPlacement is [Explain] for a decision about nodes: which units may yield and which rule keeps the others, how
// the search went in the domains, and, if the answer is no, which changes would make it a yes.
// It looks once at each running unit. The error is that of [placement.Preemptor.Decide].
func ExplainPlacement(p *placement.Preemptor, s *placement.Snapshot, r placement.Request) (PlacementExplanation, error) {
	return Printer{}.ExplainPlacement(p, s, r)
}

// ExplainPlacement is the function [ExplainPlacement] with other amounts and names.
func (pr Printer) ExplainPlacement(p *placement.Preemptor, s *placement.Snapshot, r placement.Request) (PlacementExplanation, error) {
	x := placementExplainer{Printer: pr}
	config := p.Config()
	recorded := config
	recorded.Guards = append(slices.Clone(config.Guards), nodesNotebook{Recorder: &trace.Recorder{Survey: true, To: x.step}})
	recording, err := placement.New(recorded)
	if err != nil {
		return PlacementExplanation{}, err // the configuration was valid
	}
	d, err := recording.Decide(s, r)
	if err != nil {
		return PlacementExplanation{}, err
	}
	e := PlacementExplanation{Decision: d, Steps: pr.PlacementAnswer(&r, &d)}
	if d.Outcome != preemption.Fits { // a pod of a basic group that does not fit may have been surveyed for
		e.Steps = append(e.Steps, x.units(r.Now)...)
	}
	if x.searched > 0 {
		e.Steps = append(e.Steps, Step{Section: "Where victims were looked for", Lines: x.domainLines()})
	}
	if !d.Outcome.Succeeds() {
		e.Ways = placementWays(&config, s, &r, &d)
		e.Steps = append(e.Steps, changes(each(e.Ways, func(w *Way) string { return pr.way(w, r.Now, true) })))
	}
	return e, nil
}

// nodesNotebook is a notebook for decisions about nodes.
type nodesNotebook struct {
	placement.Guard
	*trace.Recorder
}

// PlacementAnswer says who asks for what, then the decision, and what is short: the top of a page.
func (pr Printer) PlacementAnswer(r *placement.Request, d *placement.Decision) []Step {
	who := "pod " + r.Pods[0].ID
	if r.Group != "" {
		who = fmt.Sprintf("group %s of %s", r.Group, count(len(r.Pods), "pod"))
		if r.MinCount > 0 && r.MinCount < len(r.Pods) {
			who += fmt.Sprintf(", at least %d", r.MinCount)
		}
	}
	asks := Step{Title: "The request", Lines: []string{fmt.Sprintf("%s, priority %d", who, r.Priority)}}
	if r.MinGroups > 0 {
		asks.Lines = append(asks.Lines, fmt.Sprintf("needs %s in it", count(r.MinGroups, "group")))
	}
	for i := range r.Nested {
		asks.Lines = append(asks.Lines, nested(&r.Nested[i]))
	}
	says := Step{Title: "The answer", Lines: []string{pr.placementAnswer(d, len(r.Pods)) + "."}}
	for _, s := range d.Shortage {
		missing := pr.amount(s.Missing, quota.FlavorResource{Resource: s.Resource})
		says.Lines = append(says.Lines, fmt.Sprintf("short of %s on a node, in %s", missing, count(s.Domains, "domain")))
	}
	return []Step{asks, says}
}

// nested says what a group in the pending group needs.
func nested(g *placement.NestedGroup) string {
	var list []string
	if g.MinCount > 0 {
		list = append(list, count(g.MinCount, "pod"))
	}
	if g.MinGroups > 0 {
		list = append(list, count(g.MinGroups, "group"))
	}
	text := strings.Join(list, " and ")
	if text == "" {
		text = "a pod"
	}
	if n := len(g.Domains); n > 0 {
		text += " in one of " + count(n, "domain")
		if g.DomainsPreferred {
			text += ", or in all of them"
		}
	}
	return fmt.Sprintf("group %s in it needs %s", g.Group, text)
}

// PlacementMessage says a decision about a number of pods in a sentence without full stop, with what is short. It is short enough for a
// condition or an event.
func (pr Printer) PlacementMessage(d *placement.Decision, pods int) string {
	var parts []string
	for _, s := range d.Shortage {
		parts = append(parts, pr.amount(s.Missing, quota.FlavorResource{Resource: s.Resource}))
	}
	text := pr.placementAnswer(d, pods)
	if len(parts) > 0 {
		text += "; " + strings.Join(parts, ", ") + " more needed on a node"
	}
	return cut(text)
}

// placementAnswer is the decision in a sentence.
func (pr Printer) placementAnswer(d *placement.Decision, pods int) string {
	partly := ""
	if n := len(d.Nominations); n > 0 && n < pods {
		partly = fmt.Sprintf(", for %d of %s", n, count(pods, "pod"))
	}
	switch d.Outcome {
	case preemption.Fits:
		return "It has a place now" + partly
	case preemption.Preempt:
		var list tally
		for _, v := range d.Victims {
			name := v.Pods[0]
			if v.Group != "" {
				name = "group " + pr.unit(v.Group)
			}
			list.add(name)
		}
		return "It has a place once " + list.yield() + partly
	case preemption.Wait:
		if !d.RetryAt.IsZero() {
			return "It waits: time alone helps at " + clock(d.RetryAt, d.Now)
		}
		return "It waits until pods that terminate are gone" + partly
	}
	return "It has no place " + untilChanged + ": " + map[placement.Reason]string{
		placement.ReasonPolicyNever: "its priority class does not preempt",
		placement.ReasonNoVictims:   "no unit in reach may yield",
		placement.ReasonNoRoom:      "there is too little room without all that may yield",
		placement.ReasonBudgets:     "disruption budgets do not allow it",
	}[d.Reason]
}

// maxDomains is how many domains an explanation names.
const maxDomains = 8

// placementExplainer counts what the steps of a decision about nodes say.
type placementExplainer struct {
	Printer
	mayYield tally
	kept     keptList
	domains  []domain // the first that were searched, and the best
	at       domain   // being searched
	searched int64    // each time, if a domain is searched twice for the budgets, or for each pod of a Basic group
	skipped  int64
	found    [trace.Victims + 1]int64 // the domains by result
}

// domain is the search for victims in one domain.
type domain struct {
	name          string // empty: the whole cluster, or all domains together if they are only preferred
	withinBudgets bool   // it is the second search, in which units stay so that no budget is violated
	chosen        bool
	placed        trace.Step // how many pods have a place without all units that may yield
	end           trace.Step
	putBack       int64
}

func (x *placementExplainer) step(s *trace.Step) {
	switch s.Kind {
	case trace.Judged:
		name := x.unit(unitName(s))
		if s.Rule == 0 {
			x.mayYield.add(name)
			return
		}
		x.kept.add(s, name, true, unitSetBy)
	case trace.DomainSkipped:
		x.skipped++
	case trace.DomainBegins:
		x.at = domain{name: s.Domain, withinBudgets: s.Second}
		x.searched++
	case trace.Placed:
		x.at.placed = *s
	case trace.PutBack:
		x.at.putBack++
	case trace.DomainEnds:
		x.domainEnds(s)
	case trace.Chosen: // the last one with that name
		for i := len(x.domains) - 1; i >= 0; i-- {
			if x.domains[i].name == s.Domain && x.domains[i].end.Found == trace.Victims {
				x.domains[i].chosen = true
				return
			}
		}
	}
}

// unitName is the group that yields whole, or the pod.
func unitName(s *trace.Step) string {
	if s.Group != "" {
		return s.Group
	}
	return s.Workload
}

var unitRules = [...]placement.Rule{
	trace.NotLower: placement.RulePriority, trace.MinRuntime: placement.RuleMinRuntime, trace.Guarded: placement.RuleGuarded,
	trace.Terminating: placement.RuleTerminating,
}

func unitSetBy(s *trace.Step) string {
	if s.Rule != trace.MinRuntime {
		return ""
	}
	return [...]string{unit.Default: "default", unit.OwnPod: "pod", unit.OwnGroup: "group"}[s.SetBy]
}

// domainEnds ends a domain. The best so far is kept behind the first ones: it may be chosen.
func (x *placementExplainer) domainEnds(s *trace.Step) {
	x.at.end = *s
	x.found[s.Found]++
	switch best := s.Found == trace.Victims && s.Fits; {
	case len(x.domains) < maxDomains, best && len(x.domains) == maxDomains:
		x.domains = append(x.domains, x.at)
	case best:
		x.domains[maxDomains] = x.at
	}
}

// units says who may yield, and which rule keeps the others.
func (x *placementExplainer) units(now time.Time) []Step {
	x.kept.sort()
	s := Step{Section: whoMayYield, MayYield: x.mayYield.named, Kept: x.kept.named()}
	if x.mayYield.count > 0 {
		s.Lines = append(s.Lines, fmt.Sprintf("%d may yield: %v", x.mayYield.count, x.mayYield))
	}
	for _, k := range x.kept.list {
		why := unitWhy(unitRules[k.rule], k.count)
		if k.setBy != "" {
			why += ", set by " + k.setBy
		}
		s.Lines = append(s.Lines, fmt.Sprintf("%d %s%s: %v", k.count, why, k.until(now), k.tally))
	}
	if len(s.Lines) == 0 {
		return nil
	}
	return []Step{s}
}

// unitWhy says which rule keeps a number of units.
func unitWhy(r placement.Rule, n int64) string {
	return map[placement.Rule][2]string{
		placement.RulePriority:    {"is not of lower priority", "are not of lower priority"},
		placement.RuleMinRuntime:  {"has not run for its minimum runtime", "have not run for their minimum runtime"},
		placement.RuleGuarded:     {"is kept by a guard", "are kept by a guard"},
		placement.RuleTerminating: {"was told to stop already", "were told to stop already"},
	}[r][min(n-1, 1)]
}

// domainLines says how the search went.
func (x *placementExplainer) domainLines() (lines []string) {
	for i := range x.domains {
		lines = append(lines, x.domains[i].text())
	}
	for found, text := range [...]string{
		trace.NoVictims: "no unit may yield", trace.NoRoom: "too little room", trace.Budgets: "only against a budget",
		trace.Victims: "room without victims",
	} {
		if n := x.found[found]; n > 0 && x.searched > int64(len(x.domains)) {
			lines = append(lines, fmt.Sprintf("in total %s: %s", count(n, "domain"), text))
		}
	}
	if x.skipped > 0 {
		lines = append(lines, count(x.skipped, "domain")+" not searched: nothing better there")
	}
	return lines
}

// text is the result of a domain.
func (d *domain) text() string {
	text := d.name
	if text == "" {
		text = "all nodes"
	}
	if d.withinBudgets {
		text += ", within the budgets"
	}
	switch d.end.Found {
	case trace.NoVictims:
		return text + ": no unit may yield"
	case trace.NoRoom:
		return text + fmt.Sprintf(": %d of %s placed without all that may yield", d.placed.Count, count(d.placed.Amount, "pod"))
	case trace.Budgets:
		return text + ": only against a budget"
	}
	text += ": " + count(d.end.Count, "victim")
	if d.end.Count > 0 {
		text += fmt.Sprintf(" up to priority %d", d.end.Priority)
	}
	if d.end.Violations > 0 {
		text += ", " + count(d.end.Violations, "pod") + " against a budget"
	}
	if d.putBack > 0 {
		text += fmt.Sprintf(", %d put back", d.putBack)
	}
	if d.chosen {
		text += "; chosen"
	}
	return text
}
