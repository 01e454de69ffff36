package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/examples/whatif/internal/serve"
	"github.com/cedesched/cede/preemption/explain"
)

var explainVerb = verb{
	name: "explain", short: "how the answer came about, and what would change it",
	long: "Makes the same decision as ask and says how it came about: which workloads may yield by which right, which rule keeps the others, which of them the search took in which order; and for a no, which changes would make it a yes.",
	examples: []string{
		"explain",
		"explain -live vision/detector-train",
		"explain -f cluster.json -request cpu=4,nvidia.com/gpu=8 -queue team-a -priority 100",
	},
	yes: fitsAnswer, no: noAnswer, unknown: unknownAnswer,
	flags: requestFlags,
	check: checkRequest, one: true, alias: "why",
	run: func(c *cluster, o *options, std stdio) (result, error) {
		a, err := c.ask(*o)
		if err != nil {
			return result{}, err
		}
		e, err := a.explain()
		if err != nil {
			return result{}, err
		}
		return result{statusOf(a.verdict.Outcome), func(b *cli.Page) {
			a.printExplanation(b, e.Explanation)
			c.printSampleHint(b, "explain -live NAMESPACE/NAME")
		}, e, a.victimNames()}, nil
	},
}

// explain explains the decision.
func (a *answer) explain() (serve.Why, error) {
	out := serve.Why{Verdict: a.verdict, Notes: append([]string{}, a.notes...)}
	if a.decision == nil {
		return out, nil
	}
	e, err := explain.Printer{Amount: units.Amount}.Explain(a.Preemptor, a.Snapshot, a.request)
	out.Explanation = &e
	return out, err
}

// printer writes explanations for a page.
func printer(b *cli.Page) explain.Printer {
	return explain.Printer{Amount: units.Amount, Width: cmp.Or(b.Screen.Width, -1)} // -1: as wide as needed
}

// steps are those that are told, in the words of the scheduler: how quota would have to change is another question in KAI, where limits and
// shares decide.
func (a *answer) steps(e *explain.Explanation) []explain.Step {
	if !a.ByFairShares() {
		return e.Steps
	}
	steps := slices.DeleteFunc(slices.Clone(e.Steps), func(s explain.Step) bool { return s.Section == "What would change the answer" })
	for i := range steps {
		s := &steps[i]
		s.Title, s.Lines = a.Words(s.Title), slices.Clone(s.Lines)
		for j := range s.Lines {
			s.Lines[j] = a.Words(s.Lines[j])
		}
	}
	return steps
}

// printExplanation prints what ask says, how the decision came about, and the notes.
func (a *answer) printExplanation(b *cli.Page, e *explain.Explanation) {
	a.printVerdict(b)
	if e != nil {
		b.Gap()
		b.WriteString(strings.TrimRight(printer(b).Text(a.steps(e)), "\n") + "\n")
	}
	a.printNotes(b)
}
