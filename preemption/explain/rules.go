package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
)

// RulesText names rules and selectors by which a workload is a victim, as in "config hero, rule
// others-yield selectors 0, 2; rule spot-yields selector 1". Empty: none.
func RulesText(list []preemption.VictimRule) string {
	var parts []string
	for i, r := range list {
		numbers := make([]string, len(r.Selectors))
		for j, n := range r.Selectors {
			numbers[j] = strconv.Itoa(n)
		}
		word := "selector"
		if len(numbers) > 1 {
			word = "selectors"
		}
		part := fmt.Sprintf("rule %s %s %s", r.Rule, word, strings.Join(numbers, ", "))
		if i == 0 {
			part = fmt.Sprintf("config %s, %s", r.Config, part)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

// tier is the rules of one trigger that were looked at: who may yield by them now, without those taken before, and who is accepted
// but kept.
type tier struct {
	trigger  rules.Trigger
	mayYield tally
	kept     keptList
}

// quotaKey is a workload that a tier is asked about.
type quotaKey struct {
	trigger  rules.Trigger
	workload string
}

// tierBegins begins a tier, of which the steps that follow tell.
func (x *explainer) tierBegins(s *trace.Step) {
	if x.tiers == nil {
		x.tiers, x.quota = map[rules.Trigger]*tier{}, map[quotaKey]selectors.QuotaSet{}
	}
	x.tier = &tier{trigger: rules.Triggers()[s.Count]}
	x.tiers[x.tier.trigger] = x.tier
}

const rulesOf = "Rules of config " // begins the section

// RuleSteps returns the steps about rules: which triggers hold, and which workloads the selectors accept and refuse. Nil: the queue has no
// rules.
func (e *Explanation) RuleSteps() (list []Step) {
	for _, s := range e.Steps {
		if strings.HasPrefix(s.Section, rulesOf) {
			list = append(list, s)
		}
	}
	return list
}

// ruleSteps returns a step for each tier, or one that says why rules were not looked at.
func (x *explainer) ruleSteps() (steps []Step) {
	if !x.isRuled {
		return nil
	}
	section := fmt.Sprintf("%s%q, after the policies", rulesOf, x.ruled.Name)
	if x.alone() {
		section = fmt.Sprintf("%s%q, in place of the policies", rulesOf, x.ruled.Name)
	}
	holding := x.d.Triggers
	if len(holding) == 0 {
		because := "no workload that yields can help"
		if x.d.Outcome == preemption.Fits {
			because = "no workload has to yield"
		} else if x.d.Possible() {
			because = "the policies suffice"
		}
		return []Step{{Section: section, Lines: []string{"not looked at: " + because}}}
	}
	for i, trigger := range rules.Triggers() {
		if !slices.ContainsFunc(x.ruled.Rules, func(r rules.Rule) bool { return r.ActivationPolicy.Trigger == trigger }) {
			continue
		}
		s := Step{Section: section, Indent: 4}
		bad := false
		if slices.Contains(holding, trigger) {
			s, bad = x.tierStep(s, trigger)
		} else {
			later := slices.ContainsFunc(rules.Triggers()[i+1:], func(t rules.Trigger) bool { return slices.Contains(holding, t) })
			s.Title = fmt.Sprintf("%s: %s", trigger, x.notHolding(trigger, later))
		}
		if steps = append(steps, s); bad {
			break
		}
	}
	return steps
}

// notHolding says why a trigger does not hold. later: a later one does.
func (x *explainer) notHolding(t rules.Trigger, later bool) string {
	switch {
	case !later && x.d.Possible():
		return "not looked at: those before suffice"
	case t == rules.InsufficientQuota:
		return "does not hold: the quota suffices without those before"
	case t == rules.QuotaFeasibleAndInsufficientTopology:
		return "does not hold: the quota does not suffice"
	}
	return "does not hold"
}

// tierStep says which workloads the rules with a trigger that holds accept, and what refuses the others. bad: a selector is bad.
func (x *explainer) tierStep(s Step, trigger rules.Trigger) (step Step, bad bool) {
	now := x.r.Now.Round(0)
	moment := selectors.Moment{Now: x.r.Now, Since: now}
	for _, o := range x.r.TriggersSince {
		if o.Trigger == trigger {
			moment.Since = o.Since.Round(0)
		}
	}
	if s.Title = string(trigger) + ": holds"; moment.Since.Before(now) {
		s.Title += ", since " + clock(moment.Since, now)
	}
	t := x.tiers[trigger]
	if t == nil {
		t = &tier{}
	}
	t.kept.sort()
	s.MayYield, s.Kept = t.mayYield.named, t.kept.named()
	by, faults := x.recorder.Names.Tier(trigger)
	if len(faults) > 0 {
		s.Lines = append([]string{"none, because a selector is bad; later tiers are not looked at"}, faults...)
		return s, true
	}
	if t.mayYield.count > 0 {
		s.Lines = append(s.Lines, fmt.Sprintf("%d may yield: %v", t.mayYield.count, t.mayYield))
	}
	for _, k := range t.kept.list {
		s.Lines = append(s.Lines, fmt.Sprintf("accepted, but %d %s: %v", k.count, x.why(k, &level{}), k.tally))
	}
	said := x.selected(by, trigger, moment)
	for i := range x.ruled.Rules {
		switch r := &x.ruled.Rules[i]; {
		case r.ActivationPolicy.Trigger != trigger:
		case !by.ServesBy(i):
			s.Lines = append(s.Lines, fmt.Sprintf("rule %s is not for this workload", r.Name))
		case len(r.CandidateSelectors) == 0:
			s.Lines = append(s.Lines, fmt.Sprintf("rule %s has no selector", r.Name))
		default:
			for j := range r.CandidateSelectors {
				s.Lines = append(s.Lines, fmt.Sprintf("rule %s selector %d: %s", r.Name, j, said[rules.Match{Rule: i, Selector: j}].text(now)))
			}
		}
	}
	return s, false
}

// selected counts the running workloads of all queues by what each selector says of them when
// the tier begins: constraints on quota are judged with those taken before gone.
func (x *explainer) selected(by *selectors.Tier, trigger rules.Trigger, moment selectors.Moment) map[rules.Match]*selection {
	all := map[rules.Match]*selection{}
	for w := range x.about.Workloads() {
		known := false
		if moment.Quota, known = x.quota[quotaKey{trigger, w.ID}]; !known {
			moment.Quota = selectors.AllQuota() // no selector has a constraint, or it was taken before
		}
		for _, v := range by.Verdicts(&w, moment) {
			if all[v.Match] == nil {
				all[v.Match] = &selection{}
			}
			all[v.Match].add(w.ID, &v)
		}
	}
	return all
}

// selection counts those that a selector accepts, and those that each part of it is the first to refuse.
type selection struct {
	accepts tally
	refuses map[rules.Part]*refusal
}

// refusal has the first and the last instant at which time alone lets the selector accept one of them.
type refusal struct {
	tally
	span
}

func (s *selection) add(workload string, v *rules.Verdict) {
	if v.Refuses == "" {
		s.accepts.add(workload)
		return
	}
	if s.refuses == nil {
		s.refuses = map[rules.Part]*refusal{}
	}
	r := s.refuses[v.Refuses]
	if r == nil {
		r = &refusal{}
		s.refuses[v.Refuses] = r
	}
	if r.tally.add(workload); !v.From.IsZero() {
		r.include(v.From)
	}
}

// text says how many a selector accepts, and which parts of it refuse the others.
func (s *selection) text(now time.Time) string {
	if s == nil {
		return "no workload runs"
	}
	var parts []string
	if s.accepts.count > 0 {
		parts = append(parts, fmt.Sprintf("accepts %d: %v", s.accepts.count, s.accepts))
	}
	for _, part := range rules.Parts() {
		if r := s.refuses[part]; r != nil {
			parts = append(parts, fmt.Sprintf("%s refuses %d%s: %v", part, r.count, r.until(now), r.tally))
		}
	}
	return strings.Join(parts, "; ")
}
