package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/settle"
)

var settleVerb = verb{
	name: "settle", short: "who has to leave if usage is to be within the quota again",
	long: "Says which queues and cohorts use more than they may, after a quota was lowered for instance, which running workloads have to leave for that, why, and when the rest may. With -quota, -apply and the like it says so before the change is made. Schedulers do not do this by themselves: what runs goes on running.",
	examples: []string{
		"settle -live",
		"settle -quota vision:h100:nvidia.com/gpu=16",
		"settle -live -apply lowered.yaml -at-most",
	},
	yes: "nothing is over", no: "workloads have to leave, or usage stays over what is allowed",
	flags: func(c *cobra.Command, o *options) {
		quotaFlags(c, o, "settle with")
		c.Flags().BoolVar(&o.atMost, "at-most", false, "take no more than the excess, and no queue below its own quota, rather than at least the excess")
		c.Flags().IntVar(&o.maxVictims, "max-victims", 0, "name at most `N` workloads; 0 is no limit")
	},
	check: func(_ *cobra.Command, o *options) error {
		if o.maxVictims < 0 {
			return fmt.Errorf("-max-victims %d: want 0 or more", o.maxVictims)
		}
		return nil
	},
	run: func(c *cluster, o *options, std stdio) (result, error) {
		if o.changes() {
			changed, err := c.other(o, std)
			if err != nil {
				return result{}, err
			}
			c = changed
		}
		a, err := c.settle(o)
		if err != nil {
			return result{}, err
		}
		notes, status := c.inputNotes(), cli.StatusYes
		if a.Outcome != preemption.Fits {
			status = cli.StatusNo
		}
		return result{status, func(b *cli.Page) {
			answer, rest, _ := strings.Cut(printer(b).SettlementText(a), "\n")
			colour := printable.Green
			if status != cli.StatusYes {
				colour = printable.Red
			}
			b.SayIn(colour, "%s\n", answer)
			b.WriteString(rest)
			printNotes(b, notes)
			c.printSampleHint(b, "settle -live -quota QUEUE:FLAVOR:RESOURCE=N")
		}, struct {
			Now        time.Time     `json:"now"`
			Settlement settle.Answer `json:"settlement"`
			Notes      []string      `json:"notes"`
		}{c.Now, a, notes}, append([]string{}, answers.VictimNames(a.Victims)...)}, nil
	},
}

// settle says who has to leave.
func (c *cluster) settle(o *options) (settle.Answer, error) {
	r := settle.Request{MaxVictims: o.maxVictims}
	if o.atMost {
		r.Goal = settle.AtMost
	}
	return c.Settle(r)
}

// anyExcess returns an answer if something is over; else nil.
func anyExcess(a settle.Answer) *settle.Answer {
	if a.Outcome == preemption.Fits {
		return nil
	}
	return &a
}
