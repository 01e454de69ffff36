package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/workers"
)

// dispatch are the options of multikueue.
type dispatch struct {
	manager []string      // files
	context string        // of kubectl, of the manager
	workers []string      // NAME=FILE, or with -live NAME=CONTEXT
	timeout time.Duration // zero: Kueue's
	until   time.Duration // how far to play on; zero: not at all
	leave   time.Duration // how long victims take to leave
}

var multikueueVerb = verb{
	name: "multikueue", short: "of a workload sent to several clusters: which gate opens when, and who yields where",
	long: "Answers about workloads that a manager of MultiKueue sent to worker clusters with orchestrated preemption (KEP-8303): does one fit in a worker now, are victims leaving somewhere, which gate does the manager open next and when, and who would yield in each worker. It answers as Kueue 0.19 does, and says where the design does otherwise. Without -workload: about all that was sent out.",
	examples: []string{
		"multikueue -manager manager.json -worker a=a.json -worker b=b.json -workload NAMESPACE/NAME",
		"multikueue -manager manager.json -worker a=a.json -worker b=b.json -until 1h",
		"multikueue -live -manager-context hub -worker a=east -worker b=west",
	},
	yes: "it runs or fits, victims are leaving for it, or a gate opens now", no: "no gate opens, or not yet",
	unknown: "unknown: the files do not decide it",
	own:     true,
	flags: func(c *cobra.Command, o *options) {
		flags, d := c.Flags(), &o.dispatch
		flags.StringArrayVar(&d.manager, "manager", nil, "read the manager from `FILE` (- is standard input)")
		flags.StringArrayVar(&d.workers, "worker", nil, "read the worker NAME of the manager, `NAME=FILE`, or with -live NAME=CONTEXT; give each worker")
		flags.StringVar(&d.context, "manager-context", "", "with -live: the `CONTEXT` of kubectl of the manager")
		flags.StringVar(&o.workload, "workload", "", "ask about the workload `NAMESPACE/NAME` alone")
		flags.DurationVar(&d.timeout, "timeout", 0, "how long each worker may try before the next gate opens, a `TIME`; 5m as in Kueue if it is not given")
		flags.DurationVar(&d.until, "until", 0, "play on for a `TIME`: what happens if nobody else comes, and when it starts at the latest")
		flags.DurationVar(&d.leave, "leave", 30*time.Second, "with -until: the `TIME` that victims take to leave")
	},
	check: func(c *cobra.Command, o *options) error {
		d := &o.dispatch
		switch {
		case len(o.files) > 0 || o.sample != "":
			return errors.New("-f and -sample are of one cluster: give -manager FILE and -worker NAME=FILE")
		case o.scheduler == "kai":
			return errors.New("-scheduler kai: MultiKueue is of Kueue")
		case o.live && len(d.manager) > 0:
			return errors.New("-live reads the manager with kubectl and -manager from a file: give one of them")
		case o.live && d.context == "":
			return errors.New("-live needs -manager-context CONTEXT, and a -worker NAME=CONTEXT for each worker")
		case !o.live && d.context != "":
			return errors.New("-manager-context is of kubectl: it needs -live")
		case !o.live && len(d.manager) == 0:
			return errors.New("-manager FILE is missing: the objects of the manager cluster")
		case len(d.workers) == 0:
			return errors.New("-worker NAME=FILE is missing: give one for each worker cluster")
		case c.Flags().Changed("timeout") && d.timeout <= 0:
			return fmt.Errorf("-timeout %v: want more than 0; who wants preemption in all workers at once sets no gates", d.timeout)
		case c.Flags().Changed("until") && d.until <= 0:
			return fmt.Errorf("-until %v: want more than 0", d.until)
		case c.Flags().Changed("leave") && (d.leave < 0 || d.until == 0):
			return fmt.Errorf("-leave %v: want 0 or more, with -until", d.leave)
		}
		return nil
	},
	run: func(_ *cluster, o *options, std stdio) (result, error) {
		f, err := readFleet(o, std)
		if err != nil {
			return result{}, err
		}
		out, err := f.answers(o)
		if err != nil {
			return result{}, err
		}
		names := []string{}
		for i := range out.Workloads {
			names = append(names, out.Workloads[i].Workload)
		}
		return result{statusOfDispatch(out.Workloads), func(b *cli.Page) { f.print(b, o, &out) }, out, names}, nil
	},
}

// statusOfDispatch is the exit status where every answer must be yes: one no is a no, whatever is unknown besides.
func statusOfDispatch(list []workers.Answer) int {
	status := cli.StatusYes
	for i := range list {
		switch list[i].Verdict {
		case workers.OpensAt, workers.Nothing:
			return cli.StatusNo
		case workers.Unknown:
			status = cli.StatusUnknown
		}
	}
	return status
}
