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
	name: "why", short: "why does a workload wait, and what would change that",
	long: "Makes the same decision as ask and says, for a no, which changes would make it a yes. With -o wide also how it came about: which workloads may yield by which right, which rule keeps the others, which of them the search took in which order.",
	examples: []string{
		"why",
		"why -live vision/detector-train",
		"why -live -request nvidia.com/gpu=8 -queue team-a -priority 100",
	},
	yes: fitsAnswer, no: noAnswer, unknown: unknownAnswer,
	flags: requestFlags,
	check: checkRequest, takes: (*options).takeWorkload, operand: oneWorkload, alias: "explain",
	run: func(c *cluster, o *options, std stdio) (result, error) {
		c, err := c.changed(o, std)
		if err != nil {
			return result{}, err
		}
		a, err := c.ask(*o)
		if err != nil {
			return result{}, err
		}
		e, err := a.explain()
		if err != nil {
			return result{}, err
		}
		way, err := a.wayOfKAI()
		if err != nil {
			return result{}, err
		}
		return result{statusOf(a.verdict.Outcome), func(b *cli.Page) {
			a.printExplanation(b, e.Explanation, way, o.commands(a, std))
			c.printSampleHint(b, "why -live NAMESPACE/NAME")
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
	if err != nil {
		return out, err
	}
	return out, a.confirm(&e)
}

// printer writes explanations for a page, which breaks their lines.
var printer = explain.Printer{Amount: units.Amount, Width: -1}

// changeSection is the heading of the changes that would make a yes of a no.
const changeSection = "What would change the answer"

// changesFirst puts what would change the answer before how it came about: who waits asks for that.
func changesFirst(steps []explain.Step) []explain.Step {
	steps = slices.Clone(steps)
	rank := map[string]int{"": 1, changeSection: 2}
	slices.SortStableFunc(steps, func(a, b explain.Step) int {
		return cmp.Compare(cmp.Or(rank[a.Section], 3), cmp.Or(rank[b.Section], 3))
	})
	return steps
}

// printExplanation prints the answer, what would change it, and what is needed to believe it; with -o wide what ask says and how the
// decision came about.
func (a *answer) printExplanation(b *cli.Page, e *explain.Explanation, way *wayOfKAI, try *commands) {
	if e == nil {
		a.printVerdict(b)
		a.printNotes(b)
		return
	}
	said := *a
	said.brief = !b.Screen.All
	steps := changesFirst(a.Steps(e))
	at := slices.IndexFunc(steps, func(s explain.Step) bool { return s.Section == changeSection })
	if b.Screen.All {
		a.printVerdict(b)
	} else {
		a.printSentence(b)
	}
	way.print(b, try)
	if b.Screen.All {
		printSteps(b, steps[:max(at, 0)])
	}
	if at >= 0 {
		try.printWays(b, &steps[at], e.Ways)
	}
	if b.Screen.All {
		printSteps(b, steps[at+1:])
	} else {
		said.printEvidence(b)
	}
	said.printNotes(b)
	if !b.Screen.All {
		b.Gap()
		b.Say("-o wide says how this came about.\n")
	}
}

// printSteps prints steps as a paragraph.
func printSteps(b *cli.Page, steps []explain.Step) {
	if text := strings.Trim(printer.Text(steps), "\n"); text != "" {
		b.Gap()
		b.Lines(text + "\n")
	}
}
