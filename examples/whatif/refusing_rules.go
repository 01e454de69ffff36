package main

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/queue/rules"
)

// ruled reports whether the queue refers to rules that are there; alone, whether they take the place of its
// policies.
func (a *answer) ruled() (is, alone bool) {
	name := a.queue().Rules
	is = slices.ContainsFunc(a.State.Rules, func(c rules.Config) bool { return c.Name == name })
	return is, is && a.Config.RulesAlone
}

// printRefusals says by which trigger, or which part of a selector, the rules permit nobody else. Blockers
// are about policies, which play no part here.
func (a *answer) printRefusals(b *cli.Page) {
	e, err := explain.Explain(a.Preemptor, a.Snapshot, a.request)
	if err != nil || e.Rules == nil {
		return
	}
	if len(e.Rules.Tiers) == 0 {
		b.Say("The rules %s are not looked at: no workload that they could permit makes room.\n", e.Rules.Config)
		return
	}
	t := &cli.Table{Columns: []cli.Column{{Name: "rule of " + e.Rules.Config, Least: 12}, {Name: "trigger", Least: 8}, {Name: "why it permits no other", Least: 30}}}
	for i := range e.Rules.Tiers {
		tier := &e.Rules.Tiers[i]
		switch {
		case len(tier.Faults) > 0:
			t.Row("", tier.Trigger, "a selector is bad: it permits none, nor do later triggers")
		case !tier.Holds:
			t.Row("", tier.Trigger, "it does not hold")
		}
		for _, r := range tier.Rules {
			switch {
			case r.OfOthers:
				t.Row(r.Rule, tier.Trigger, "it does not serve this workload")
			case len(r.Selectors) == 0:
				t.Row(r.Rule, tier.Trigger, "it has no selector")
			}
			for j := range r.Selectors {
				t.Row(fmt.Sprintf("%s selector %d", r.Rule, j), tier.Trigger, a.refusals(&r.Selectors[j]))
			}
		}
		for j := range tier.Kept {
			t.Row("", tier.Trigger, fmt.Sprintf("accepted, but %s: %s", keeps[tier.Kept[j].Rule], named(tier.Kept[j].Counted)))
		}
	}
	if !t.Empty() {
		b.Gap()
		b.Table(t)
	}
}

// keeps is what keeps a workload that a selector accepts.
var keeps = map[preemption.Rule]string{
	0:                          "nothing of what is short is used",
	preemption.RuleMinRuntime:  "a minimum runtime protects",
	preemption.RuleGuarded:     "a guard protects",
	preemption.RuleNeverYields: "these never yield",
	preemption.RuleLimit:       "a limit on preemptions is reached",
}

// refusals says which workloads each part of a selector refuses.
func (a *answer) refusals(s *explain.ExplainedSelector) string {
	var parts []string
	for _, r := range s.Refuses {
		until := ""
		if !r.From.IsZero() {
			until = fmt.Sprintf(" for %s more", duration.HumanDuration(r.From.Sub(a.request.Now)))
		}
		parts = append(parts, fmt.Sprintf("%s refuses %s%s", r.Part, named(r.Counted), until))
	}
	if len(parts) == 0 && s.Accepts.Count > 0 {
		return "all are accepted"
	} else if len(parts) == 0 {
		return "no workload runs"
	}
	return strings.Join(parts, "; ")
}

// named names some of those who are counted.
func named(c explain.Counted) string {
	text := strings.Join(c.Samples, ", ")
	if more := c.Count - int64(len(c.Samples)); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
