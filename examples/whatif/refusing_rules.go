package main

import (
	"slices"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/queue/rules"
)

// ruled reports whether the queue refers to rules that are there; alone, whether they take the place of its
// policies.
func (a *answer) ruled() (is, alone bool) {
	name := a.queue().Rules
	is = slices.ContainsFunc(a.State.Rules, func(c rules.Config) bool { return c.Name == name })
	return is, is && a.Config.Compat.RulesAlone
}

// printRefusals says which trigger of the rules does not hold, and what keeps the workloads that their selectors
// accept or refuse. Blockers are about policies, which play no part here.
func (a *answer) printRefusals(b *cli.Page) {
	pr := printer
	if e, err := pr.Explain(a.Preemptor, a.Snapshot, a.request); err == nil {
		b.Lines(pr.Text(e.RuleSteps()))
	}
}
