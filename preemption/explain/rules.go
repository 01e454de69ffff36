package explain

import (
	"fmt"
	"strconv"
	"strings"
	"time"

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

func rulesTitle(r *ExplainedRules) string {
	if r.Alone {
		return fmt.Sprintf("Rules of config %q, in place of the policies", r.Config)
	}
	return fmt.Sprintf("Rules of config %q, after the policies", r.Config)
}

// notLookedAt says why rules were not looked at.
func notLookedAt(e *Explanation) string {
	switch {
	case e.Decision.Outcome == preemption.Fits:
		return "not looked at: no workload has to yield"
	case e.Decision.Possible():
		return "not looked at: the policies suffice"
	}
	return "not looked at: no workload that yields can help"
}

// trigger says whether the trigger of a tier holds, and if not, why.
func trigger(e *Explanation, tier int) string {
	t := &e.Rules.Tiers[tier]
	if t.Holds && t.Since.Before(e.Question.Now) {
		return "holds, since " + clock(t.Since, e.Question.Now)
	} else if t.Holds {
		return "holds"
	}
	later := false
	for _, o := range e.Rules.Tiers[tier+1:] {
		later = later || o.Holds
	}
	switch {
	case !later && e.Decision.Possible():
		return "not looked at: those before suffice"
	case t.Trigger == rules.InsufficientQuota:
		return "does not hold: the quota suffices without those before"
	case t.Trigger == rules.QuotaFeasibleAndInsufficientTopology:
		return "does not hold: the quota does not suffice"
	}
	return "does not hold"
}

// tierLines says which workloads the rules of a tier accept, and what refuses the others.
func tierLines(t *ExplainedTier, now time.Time) (lines []string) {
	if len(t.Faults) > 0 {
		lines = append(lines, "none, because a selector is bad; later tiers are not looked at")
		return append(lines, t.Faults...)
	}
	if !t.Holds {
		return nil
	}
	if t.MayYield.Count > 0 {
		lines = append(lines, fmt.Sprintf("%d may yield: %s", t.MayYield.Count, names(t.MayYield)))
	}
	for i := range t.Kept {
		lines = append(lines, fmt.Sprintf("accepted, but %d %s: %s", t.Kept[i].Count, rule(&t.Kept[i], "", now), names(t.Kept[i].Counted)))
	}
	for i := range t.Rules {
		r := &t.Rules[i]
		switch {
		case r.OfOthers:
			lines = append(lines, fmt.Sprintf("rule %s is not for this workload", r.Rule))
		case len(r.Selectors) == 0:
			lines = append(lines, fmt.Sprintf("rule %s has no selector", r.Rule))
		}
		for j := range r.Selectors {
			lines = append(lines, fmt.Sprintf("rule %s selector %d: %s", r.Rule, j, strings.Join(selectorParts(&r.Selectors[j], now), "; ")))
		}
	}
	return lines
}

// selectorParts says how many a selector accepts, and which parts of it refuse the others.
func selectorParts(s *ExplainedSelector, now time.Time) (parts []string) {
	if s.Accepts.Count > 0 {
		parts = append(parts, fmt.Sprintf("accepts %d: %s", s.Accepts.Count, names(s.Accepts)))
	}
	for _, r := range s.Refuses {
		parts = append(parts, fmt.Sprintf("%s refuses %d%s: %s", r.Part, r.Count, until(r.From, r.Until, now), names(r.Counted)))
	}
	if len(parts) == 0 {
		parts = []string{"no workload runs"}
	}
	return parts
}

// ruleSteps returns a step for each tier, or one that says why rules were not looked at.
func ruleSteps(e *Explanation) (steps []Step) {
	if e.Rules == nil {
		return nil
	}
	title := rulesTitle(e.Rules)
	if len(e.Rules.Tiers) == 0 {
		return []Step{{Title: title, Lines: []string{notLookedAt(e)}, section: title, indent: 2}}
	}
	for i := range e.Rules.Tiers {
		t := &e.Rules.Tiers[i]
		first := fmt.Sprintf("%s: %s", t.Trigger, trigger(e, i))
		steps = append(steps, Step{
			Title: fmt.Sprintf("%s: %s", title, t.Trigger), Lines: append([]string{first}, tierLines(t, e.Question.Now)...),
			MayYield: t.MayYield.Samples, Kept: samplesOf(t.Kept), section: title, label: first, said: 1, indent: 4,
		})
	}
	return steps
}
