package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/lint"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/workload"
)

var lintVerb = verb{
	name: "lint", short: "what will hurt in the configuration, although it is valid",
	long:     "Finds what will hurt in the configuration, although it is valid. The rules:\n" + lintRules(),
	examples: []string{"lint -live", "lint -f cluster.json -rule circle -rule gate", "lint -live -o json"},
	yes:      "nothing was found", no: "something was found",
	flags: func(c *cobra.Command, o *options) {
		c.Flags().StringArrayVar(&o.rules, "rule", nil, "only the `RULE`; may be given several times")
		choose(c, "rule", lint.Names()...)
	},
	run: func(c *cluster, o *options, std stdio) (result, error) {
		found, unfinished, err := c.lint(o, std.screen)
		if err != nil {
			return result{}, fmt.Errorf("-rule: %w", err)
		}
		notes := c.inputNotes()
		notes = append(notes, unfinished...)
		status := cli.StatusYes
		if len(found) > 0 {
			status = cli.StatusNo
		}
		return result{status, func(b *cli.Page) {
			printFindings(b, found, len(unfinished) > 0)
			printNotes(b, notes)
			c.printSampleHint(b, "lint -live")
		}, struct {
			Findings []lint.Finding `json:"findings"`
			Notes    []string       `json:"notes"`
		}{found, notes}}, nil
	},
}

func lintRules() string {
	var b strings.Builder
	for _, r := range lint.Rules() {
		fmt.Fprintf(&b, "\n%s: %s.", r.Name, r.Means)
	}
	return b.String()
}

func (c *cluster) lint(o *options, screen cli.Screen) (found []lint.Finding, unfinished []string, err error) {
	in := &lint.Cluster{
		State: c.State, Snapshot: c.Snapshot, Config: c.Config, LocalQueues: c.Found.LocalQueues, Notes: c.Found.Notes, Now: c.Now,
		Topologies: c.Found.Topologies,
		Pending:    []workload.Workload{},
	}
	list, err := c.waiting(o)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range list {
		if w.Considered() && w.Request.Room == nil {
			in.Pending = append(in.Pending, w.Workload)
		}
	}
	progress := screen.Start("workloads and queues", int64(len(in.Pending)+len(in.State.Queues)))
	defer progress.Done()
	in.Progress = func() { progress.Add(1) }
	found, err = lint.Run(in, o.rules...)
	return found, in.Unfinished, err
}

// maxFindings limits the findings of a rule in text.
const maxFindings = 10

func printFindings(b *cli.Page, found []lint.Finding, unfinished bool) {
	if len(found) == 0 {
		if unfinished {
			b.SayIn(printable.Yellow, "Nothing was found so far; the notes say what was not looked at.\n")
			return
		}
		b.SayIn(printable.Green, "Nothing was found.\n")
		return
	}
	b.Say("%s.\n\n", plural(len(found), "1 finding", "%d findings"))
	for _, r := range lint.Rules() {
		var list []lint.Finding
		for _, f := range found {
			if f.Rule == r.Name {
				list = append(list, f)
			}
		}
		if len(list) == 0 {
			continue
		}
		b.SayIn(printable.Yellow, "%s: %s (%d)\n", r.Name, r.Means, len(list))
		for i, f := range list {
			if i == maxFindings {
				b.SayAt(2, "... and %d more; -o json has all.\n", len(list)-i)
				break
			}
			b.SayAt(2, "%s: %s.\n", f.Place, f.Problem)
			if f.Example != "" {
				b.SayAt(4, "Example: %s.\n", f.Example)
			}
		}
		b.WriteByte('\n')
	}
}
