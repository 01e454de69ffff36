package main

import (
	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/internal/cli"
)

// What the exit statuses mean of a verb about one workload.
const (
	fitsAnswer    = "it fits, at once or by preemption"
	noAnswer      = "it does not, or not yet, or it is held: the scheduler does not consider it"
	unknownAnswer = "unknown: the answer depends on what cannot be read or is not supported"
)

var askVerb = verb{
	name: "ask", short: "who has to yield so that a workload fits, or why does it not",
	long: "Says whether a workload fits, which workloads it preempts and why, or why none may yield; or that it is held, or that the answer is unknown. The workload is a pending one of the input (-workload), or a new one (-request).",
	examples: []string{
		"ask -f cluster.json vision/detector-train",
		"ask -live vision/detector-train -in 20m",
		"ask -live -request nvidia.com/gpu=8 -queue team-a -priority 100",
	},
	yes: fitsAnswer, no: noAnswer, unknown: unknownAnswer,
	flags: func(c *cobra.Command, o *options) {
		requestFlags(c, o)
		c.Flags().BoolVar(&o.all, "all", false, "print all rows: also of what there is room for")
		c.Flags().BoolVar(&o.tree, "tree", false, "print queues that neither ask nor give, too")
	},
	check: checkRequest, takes: (*options).takeWorkload, operand: oneWorkload,
	run: func(c *cluster, o *options, std stdio) (result, error) {
		c, err := c.changed(o, std)
		if err != nil {
			return result{}, err
		}
		a, err := c.ask(*o)
		if err != nil {
			return result{}, err
		}
		return result{statusOf(a.verdict.Outcome), func(b *cli.Page) {
			a.print(b, o.all, o.tree)
			c.printSampleHint(b, "-live NAMESPACE/NAME")
		}, a.plain(), a.victimNames()}, nil
	},
}
