package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/whatif/internal/serve"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/workload"
)

var nextVerb = verb{
	name: "next", short: "what the next admission cycles do",
	long:     "Runs the next admission cycles with all that waits: which workloads are admitted, preempt or stay. It assumes that a victim has left before the next cycle and then waits again, and that nothing is submitted and nothing ends. Limits on preemptions count those of the cycles before. Where only time helps, the next cycle is at that time. In a large cluster without room fewer cycles are run; -all runs all. Of KAI a cycle is a session: which groups start in idle room, which because pods move (consolidation), which reclaim by fair shares, which preempt in their queue, in KAI's order. Victims are those that are needed; with -search kai those that KAI's own search finds.",
	examples: []string{"next -live -queue vision", "next -f cluster.json -cycles 20 -quota vision:h100:nvidia.com/gpu=+8", "next -live -scheduler kai -search kai"},
	yes:      "a workload is admitted or preempts", no: "no workload is admitted and none preempts", unknown: "the answer about a workload is unknown, which may come before the others, or not all cycles were run",
	flags: func(c *cobra.Command, o *options) {
		queueFlag(c, o)
		c.Flags().IntVar(&o.cycles, "cycles", 5, "run at most `N` cycles")
		c.Flags().StringVar(&o.search, "search", "", "of KAI, find victims as `kai` itself does: it probes, and puts nothing back")
		choose(c, "search", "kai")
		allFlag(c, o)
		quotaFlags(c, o, "run with", " (diff -h: more)")
		policyFlag(c, o, "run with")
	},
	check: func(_ *cobra.Command, o *options) error {
		if o.cycles < 1 || o.cycles > maxCycles {
			return fmt.Errorf("-cycles %d: want 1 to %d", o.cycles, maxCycles)
		}
		if o.search != "" && o.search != "kai" {
			return fmt.Errorf("-search %q: want kai", o.search)
		}
		return nil
	},
	run: func(c *cluster, o *options, std stdio) (result, error) {
		c, err := c.changed(o, std)
		if err != nil {
			return result{}, err
		}
		if err := c.checkQueue(o.queue); err != nil {
			return result{}, err
		}
		if o.search != "" && !c.ByFairShares() {
			return result{}, errors.New("-search kai: the input is not of KAI")
		}
		most := answers.MaxSteps
		if o.all {
			most = 0
		}
		f, err := c.forecast(o, most, std.screen)
		if err != nil {
			return result{}, err
		}
		status, shown := cli.StatusNo, []step{}
		for _, s := range f.steps {
			if o.wants(&workload.Workload{ID: s.Workload, Queue: s.Queue}) {
				shown = append(shown, s)
				if s.Outcome == cycle.Admit || s.Outcome == cycle.Preempt {
					status = cli.StatusYes
				}
			}
		}
		if len(f.unknown)+len(f.placed) > 0 || f.cut && status == cli.StatusNo { // one of them may come first, or in a later cycle
			status = cli.StatusUnknown
		}
		f.steps = shown
		for _, list := range []*[]string{&f.held, &f.unknown, &f.placed} {
			*list = slices.DeleteFunc(*list, func(id string) bool { return !o.wants(&workload.Workload{ID: id, Queue: f.queues[id]}) })
		}
		notes := c.inputNotes()
		if f.cut {
			notes = append(notes, fmt.Sprintf("cycle %d is the last one that was run: the decisions may look at %d million running workloads together; with -all they have no limit",
				f.cycles, answers.MaxSteps/1_000_000))
		}
		if f.searched {
			notes = append(notes, "KAI's search was ended before all sets of victims were tried, as KAI ends it after some time")
		}
		return result{status, func(b *cli.Page) {
			c.printForecast(b, o, f)
			printNotes(b, notes)
			c.printSampleHint(b, "next -live")
		}, serve.Next{Now: c.Now, Cycles: f.cycles, Ends: f.ends, Heads: f.steps, Held: f.held, Unknown: f.unknown, Placed: f.placed, Notes: notes}, nil}, nil
	},
}

// maxCycles limits -cycles: each takes a decision for each head.
const maxCycles = 10_000

// step is what a cycle does about one head.
type step = serve.Step

func (c *cluster) printForecast(b *cli.Page, o *options, f *forecast) {
	t := &cli.Table{Columns: []cli.Column{
		{Name: "cycle"}, {Name: "workload", Least: 24, Cut: true}, {Name: "queue", Least: 8, Cut: true}, {Name: "result", Least: 30, Colour: answers.Colour},
	}}
	last, silent := 0, false
	for _, s := range f.steps {
		name := ""
		if s.Cycle != last {
			silent = silent || s.Cycle > last+1
			name, last = fmt.Sprint(s.Cycle), s.Cycle
			if s.At.After(c.Now) {
				name += ", in " + duration.HumanDuration(s.At.Sub(c.Now))
			}
		}
		words := s.Words
		for _, id := range s.Took {
			words = strings.ReplaceAll(words, id, b.Shorter(id))
		}
		t.Row(name, s.Workload, s.Queue, words)
	}
	admitted, preempt := 0, 0
	for _, s := range f.steps {
		switch s.Outcome {
		case cycle.Admit:
			admitted++
		case cycle.Preempt:
			preempt++
		}
	}
	if f.cycles == 0 {
		b.Say("No workload is tried.\n")
	} else {
		b.Say("%s %s, %s%s.\n", plural(f.cycles, "In the next cycle", "In the next %d cycles"),
			plural(admitted, "1 workload is admitted", "%d workloads are admitted"), plural(preempt, "1 preempts", "%d preempt"), o.where())
	}
	if len(f.held) > 0 {
		b.Say("Held: %s. overview says why.\n", some(f.held))
	}
	if len(f.unknown) > 0 {
		b.Say("Unknown: %s. overview says why.\n", some(f.unknown))
	}
	if len(f.placed) > 0 {
		b.Say("Not tried: %s, which needs room on nodes; ask says whether it fits.\n", some(f.placed))
	}
	if !t.Empty() {
		b.Gap()
		b.Table(t)
	}
	if silent && o.queue == "" && o.namespace == "" {
		b.Say("Cycles that change nothing that is shown are left out.\n")
	}
	switch {
	case f.ends && f.cycles > 0:
		b.Say("After %s nothing changes before an event.\n", plural(f.cycles, "this cycle", "these %d cycles"))
	case f.cut:
		b.Say("There is more after %s; -all shows it.\n", plural(f.cycles, "this cycle", "these %d cycles"))
	case !f.ends:
		b.Say("There is more after %s; -cycles shows it.\n", plural(f.cycles, "this cycle", "these %d cycles"))
	}
}
