package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/examples/whatif/internal/serve"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/settle"
)

var settleVerb = verb{
	name: "settle", short: "who has to leave after a quota was lowered",
	long: "Says which queues and cohorts use more than they may, after a quota was lowered for instance, which running workloads have to leave for that, why, and when the rest may. With -quota, -apply and the like it says so before the change is made. Schedulers do not do this by themselves: what runs goes on running.",
	examples: []string{
		"settle -live",
		"settle -quota vision:h100:nvidia.com/gpu=16",
		"settle -live -apply lowered.yaml",
	},
	yes: "nothing is over", no: "workloads have to leave, or usage stays over what is allowed",
	unknown: "unknown: the answer depends on what cannot be read or is not modelled",
	flags: func(c *cobra.Command, o *options) {
		quotaFlags(c, o, "settle with", quotaForms)
		c.Flags().IntVar(&o.maxVictims, "max-victims", 0, "name at most `N` workloads; 0 is no limit")
	},
	check: func(_ *cobra.Command, o *options) error {
		if o.maxVictims < 0 {
			return fmt.Errorf("-max-victims %d: want 0 or more", o.maxVictims)
		}
		return nil
	},
	run: func(c *cluster, o *options, std stdio) (result, error) {
		c, err := c.changed(o, std)
		if err != nil {
			return result{}, err
		}
		a, err := c.settle(o)
		if err != nil {
			return result{}, err
		}
		notes, status := c.inputNotes(), cli.StatusYes
		if c.ByFairShares() {
			notes = append(notes, "KAI ends nothing because a limit or a fair share fell: this is about limits alone, and next says who yields to groups that are entitled")
		}
		if a.Outcome != preemption.Fits {
			status = cli.StatusNo
		}
		doubts := append([]string{}, c.UsageDoubts()...)
		if len(doubts) > 0 {
			status = cli.StatusUnknown
			notes = append(notes, c.accept(doubts)...)
		}
		return result{status, func(b *cli.Page) {
			if len(doubts) > 0 {
				b.SayIn(answers.ColourOf(answers.Unknown), "Who has to leave is unknown: %s. As far as is known:\n", doubts[0])
			}
			answer, rest, _ := strings.Cut(c.Words(printer.SettlementText(a)), "\n")
			colour := printable.Green
			if a.Outcome != preemption.Fits {
				colour = printable.Red
			}
			b.SayIn(colour, "%s\n", answer)
			if b.Screen.Width > 0 {
				rest = alikeOnce(rest)
			}
			b.Lines(rest)
			printNotes(b, notes)
			c.printSampleHint(b, "settle -live "+c.quotaHint())
		}, serve.Settled{Now: c.Now, Settlement: a, Doubts: doubts, Notes: notes}, append([]string{}, answers.VictimNames(a.Victims)...)}, nil
	},
}

// alikeOnce leaves, of many lines about workloads that leave for one reason, the first ones and a count.
func alikeOnce(text string) string {
	const most = 3
	var b strings.Builder
	last, count := "", 0
	end := func() {
		if more := count - most; more > 0 {
			fmt.Fprintf(&b, "  ... and %s: %s\n", plural(more, "1 more leaves", "%d more leave"), last)
		}
	}
	for line := range strings.Lines(text) {
		_, why, leaves := strings.Cut(strings.TrimSuffix(line, "\n"), " leaves: ")
		if !leaves || why != last {
			end()
			last, count = why, 0
		}
		if leaves {
			count++
		}
		if !leaves || count <= most {
			b.WriteString(line)
		}
	}
	end()
	return b.String()
}

// settle says who has to leave.
func (c *cluster) settle(o *options) (settle.Answer, error) {
	return c.Settle(settle.Request{MaxVictims: o.maxVictims})
}

// anyExcess returns an answer if something is over; else nil.
func anyExcess(a settle.Answer) *settle.Answer {
	if a.Outcome == preemption.Fits {
		return nil
	}
	return &a
}
