package main

import (
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
)

var explainVerb = verb{
	name: "explain", short: "how the answer came about, and what would change it",
	long: "Makes the same decision as ask and says how it came about: who may yield by which right, which rule keeps the others, whom the search took in which order; and for a no, which changes would make it a yes.",
	examples: []string{
		"explain",
		"explain -live -workload vision/detector-train",
		"explain -f cluster.json -request cpu=4,nvidia.com/gpu=8 -queue team-a -priority 100",
	},
	yes: "it fits, at once or by preemption", no: "it does not, or not yet",
	flags: requestFlags,
	check: checkRequest,
	run: func(o *options, std stdio, clock func() time.Time) (result, error) {
		c, err := load(o, std, clock)
		if err != nil {
			return result{}, err
		}
		a, err := c.ask(*o)
		if err != nil {
			return result{}, err
		}
		e, err := c.Preemptor.Explain(c.Snapshot, a.request)
		if err != nil {
			return result{}, err
		}
		notes := append([]string{}, a.notes...)
		return result{e.Decision.Outcome.Succeeds(), func(b *cli.Page) {
			c.printSampleHint(b, "explain -live -workload NAMESPACE/NAME")
			width := b.Screen.Width
			if width == 0 {
				width = -1 // as wide as needed
			}
			text := explain.Printer{Amount: units.Amount, Width: width}.Text(e)
			b.WriteString(strings.TrimRight(text, "\n") + "\n\n")
			printNotes(b, notes)
		}, struct {
			Explanation preemption.Explanation `json:"explanation"`
			Notes       []string               `json:"notes"`
		}{e, notes}}, nil
	},
}
