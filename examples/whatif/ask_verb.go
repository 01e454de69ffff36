package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/preemption"
)

var askVerb = verb{
	name: "ask", short: "does this workload fit, whom does it preempt and why, or why nobody? (the default)",
	long: "Says whether a workload fits, whom it preempts and why, or why nobody yields. The workload is a pending one of the input (-workload), or a new one (-request).",
	examples: []string{
		"",
		"-f cluster.json -workload vision/detector-train",
		"-f cluster.json -request cpu=4,nvidia.com/gpu=8 -queue team-a -priority 100",
		"-live -workload vision/detector-train -in 20m",
	},
	yes: "it fits, at once or by preemption", no: "it does not, or not yet",
	flags: func(c *cobra.Command, o *options) {
		requestFlags(c, o)
		c.Flags().BoolVar(&o.all, "all", false, "print all rows of the queue tree")
	},
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
		yes := a.decision.Outcome == preemption.Fits || a.decision.Outcome == preemption.Preempt
		return result{yes, func(b *cli.Page) {
			c.printSampleHint(b, "-live -workload NAMESPACE/NAME")
			a.print(b, o.all)
		}, a.plain()}, nil
	},
}
