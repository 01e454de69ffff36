package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/examples/whatif/internal/serve"
	"github.com/cedesched/cede/preemption/explain"
)

var explainVerb = verb{
	name: "why", short: "why does a workload wait, and what would change that",
	long: "Makes the same decision as ask and says how it came about: which workloads may yield by which right, which rule keeps the others, which of them the search took in which order; and for a no, which changes would make it a yes.",
	examples: []string{
		"why",
		"why -live vision/detector-train",
		"why -f cluster.json -request cpu=4,nvidia.com/gpu=8 -queue team-a -priority 100",
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

// onScreen leaves out of steps what stands above them on a page, the middle of long attempts, and names of long lists.
func onScreen(steps []explain.Step, width int) (kept []explain.Step) {
	var taken []explain.Step
	for _, s := range append(steps, explain.Step{}) {
		if s.Title == "" && strings.HasPrefix(strings.Join(s.Lines, ""), "take ") {
			taken = append(taken, shortLines(s, width))
			continue
		}
		if more := len(taken) - 4; more > 2 { // three of the first, and the last
			some := explain.Step{Section: taken[0].Section, Lines: []string{fmt.Sprintf("... and %d more like these", more)}, Indent: taken[0].Indent}
			taken = slices.Concat(taken[:3], []explain.Step{some}, taken[len(taken)-1:])
		}
		kept, taken = append(kept, taken...), nil
		if s.Section == "" {
			s.Lines = slices.DeleteFunc(slices.Clone(s.Lines), func(line string) bool { return !strings.HasPrefix(line, "short of") })
			for i, line := range s.Lines {
				s.Lines[i] = "S" + line[1:]
			}
		}
		kept = append(kept, shortLines(s, width))
	}
	return kept
}

// shortLines leaves, in lines that are longer than two of the screen, of what is short and of workloads the first one and a count.
func shortLines(s explain.Step, width int) explain.Step {
	s.Lines = slices.Clone(s.Lines)
	for i, line := range s.Lines {
		if len(line) <= 2*width {
			continue
		}
		if before, short, is := strings.Cut(line, "hort of "); is {
			list := strings.Split(short, ", ")
			if len(list) > 1 {
				s.Lines[i] = fmt.Sprintf("%short of %s and %s", before, list[0], plural(len(list)-1, "1 more resource", "%d more resources"))
			}
			continue
		}
		var n int
		head, list, is := strings.Cut(line, ": ")
		first, _, several := strings.Cut(list, ", ")
		if _, err := fmt.Sscan(head, &n); err == nil && is && several {
			s.Lines[i] = fmt.Sprintf("%s: %s and %d more", head, first, n-1)
		}
	}
	return s
}

// printExplanation prints what ask says, how the decision came about, and the notes.
func (a *answer) printExplanation(b *cli.Page, e *explain.Explanation, way *wayOfKAI, try *commands) {
	a.printVerdict(b)
	if e != nil {
		way.print(b, try)
		steps := changesFirst(a.Steps(e))
		if b.Screen.Width > 0 {
			steps = onScreen(steps, b.Screen.Width)
		}
		at := slices.IndexFunc(steps, func(s explain.Step) bool { return s.Section == changeSection })
		if at < 0 {
			printSteps(b, steps)
		} else {
			printSteps(b, steps[:at])
			try.printWays(b, &steps[at], e.Ways)
			printSteps(b, steps[at+1:])
		}
	}
	a.printNotes(b)
}

// printSteps prints steps as a paragraph.
func printSteps(b *cli.Page, steps []explain.Step) {
	if text := strings.Trim(printer.Text(steps), "\n"); text != "" {
		b.Gap()
		b.Lines(text + "\n")
	}
}
