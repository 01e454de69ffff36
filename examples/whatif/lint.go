package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/lint"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/examples/whatif/internal/serve"
	"github.com/cedesched/cede/workload"
)

var lintVerb = verb{
	name: "lint", short: "what will hurt in the configuration, although it is valid",
	long:     "Finds what will hurt in the configuration, although it is valid. The rules:\n" + lintRules(),
	examples: []string{"lint -sample trouble", "lint -live", "lint -f cluster.json -rule circle -rule gate"},
	yes:      "nothing was found", no: "something was found", unknown: "nothing was found, and not all was looked at",
	flags: func(c *cobra.Command, o *options) {
		c.Flags().StringArrayVar(&o.rules, "rule", nil, "only the `RULE`; may be given several times")
		choose(c, "rule", lint.Names()...)
		allFlag(c, o)
	},
	run: func(c *cluster, o *options, std stdio) (result, error) {
		said := &findings{page: &cli.Page{Screen: o.screen(std.screen)}, out: std.out}
		found, unfinished, err := c.lint(o, std, said)
		if err != nil {
			return result{}, fmt.Errorf("-rule: %w", err)
		}
		notes := append(c.inputNotes(), unfinished...)
		status := cli.StatusYes
		switch {
		case len(found) > 0:
			status = cli.StatusNo
		case len(unfinished) > 0:
			status = cli.StatusUnknown
		}
		if !o.isText() {
			return result{status, nil, serve.Linted{Findings: found, Notes: notes}, nil}, nil
		}
		said.end(len(unfinished) > 0)
		printNotes(said.page, notes)
		c.printSampleHint(said.page, "lint -live")
		return result{status: status}, cmp.Or(said.err, said.page.Print(std.out))
	},
}

func lintRules() string {
	var b strings.Builder
	for _, r := range lint.Rules() {
		fmt.Fprintf(&b, "\n%s: %s.", r.Name, r.Means)
	}
	return b.String()
}

func (c *cluster) lint(o *options, std stdio, said *findings) (found []lint.Finding, unfinished []string, err error) {
	ctx, stop := std.interrupted()
	defer stop()
	in := &lint.Cluster{
		State: c.State, Snapshot: c.Snapshot, Config: c.Config, LocalQueues: c.Found.LocalQueues, Notes: c.Found.Notes, Now: c.Now,
		Topologies: c.Found.Topologies, LeavingSince: c.Found.LeavingSince, Dropped: c.Found.Dropped,
		Pending:   []workload.Workload{},
		Unlimited: o.all,
		Ended: func() string {
			if ctx.Err() == nil {
				return ""
			}
			return context.Cause(ctx).Error()
		},
	}
	list, err := c.forCycles(o)
	if err != nil {
		return nil, nil, err
	}
	in.TooLarge = map[string][]answers.TooLarge{}
	for _, w := range list {
		if w.Unasked == "" && w.Refused == "" && (len(w.Doubts) == 0 || w.NoStands) {
			r := w.Request
			r.Room = nil
			in.TooLarge[r.Workload.ID] = w.TooLarge
			in.Waiting = append(in.Waiting, r)
		}
		if w.Considered() && w.Request.Room == nil || c.ByFairShares() && w.Unasked == "" {
			in.Pending = append(in.Pending, w.Workload)
		}
	}
	if o.isText() {
		in.Found = said.add
	}
	progress := std.screen.Start("workloads and queues", int64(len(in.Pending)+len(in.State.Queues)))
	defer progress.Done()
	in.Progress, said.clear = func() { progress.Add(1) }, progress.Clear
	found, err = lint.Run(in, o.rules...)
	return found, in.Unfinished, err
}

// maxFindings limits the findings of a rule in text.
const maxFindings = 10

// findings prints findings as they are made.
type findings struct {
	page  *cli.Page
	out   io.Writer
	clear func() // takes a bar of progress away
	rule  string // of the last ones
	of    int    // it
	all   int
	err   error
}

func (f *findings) add(one lint.Finding) {
	if f.rule != one.Rule {
		f.more()
		f.rule, f.of = one.Rule, 0
		at := slices.IndexFunc(lint.Rules(), func(r lint.Rule) bool { return r.Name == one.Rule })
		f.page.SayIn(printable.Yellow, "%s: %s\n", one.Rule, lint.Rules()[at].Means)
	}
	f.all++
	if f.of++; f.of > maxFindings {
		return
	}
	f.page.SayAt(2, "%s: %s.\n", one.Place, one.Problem)
	if one.Example != "" {
		f.page.SayAt(4, "Example: %s.\n", one.Example)
	}
	f.clear()
	f.err = cmp.Or(f.err, f.page.Flush(f.out))
}

// more says how many findings of the last rule were not printed.
func (f *findings) more() {
	if left := f.of - maxFindings; left > 0 {
		f.page.SayAt(2, "... and %d more; -o json has all.\n", left)
	}
	f.page.Gap()
}

// end says how many findings there are.
func (f *findings) end(unfinished bool) {
	f.more()
	switch {
	case f.all == 0 && unfinished:
		f.page.SayIn(printable.Yellow, "Nothing was found so far; the notes say what was not looked at.\n")
	case f.all == 0:
		f.page.SayIn(printable.Green, "Nothing was found.\n")
	case unfinished:
		f.page.Say("%s so far; the notes say what was not looked at.\n", plural(f.all, "1 finding", "%d findings"))
	default:
		f.page.Say("%s.\n", plural(f.all, "1 finding", "%d findings"))
	}
}
