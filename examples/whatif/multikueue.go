package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/workers"
	"github.com/cedesched/cede/gate"
)

// dispatch are the options of multikueue.
type dispatch struct {
	manager []string      // files
	context string        // of kubectl, of the manager
	workers []string      // NAME=FILE, or with -live NAME=CONTEXT
	timeout time.Duration // zero: Kueue's
	until   time.Duration // how far to play on; zero: not at all
	leave   time.Duration // how long victims take to leave
	order   string        // of a manager by the design; empty: FirstSignal
	by      gate.ReplicaOrder
	grace   time.Duration // likewise
	cost    []string      // resources whose use for a time is what victims lose
	design  bool          // order or grace was given
}

var multikueueVerb = verb{
	name: "multikueue", short: "of a workload sent to several clusters: which gate opens when",
	long: "Of workloads that a manager of MultiKueue sent to several workers (KEP-8303): does one fit, are victims leaving, which gate opens when, who would yield where. As Kueue 0.19 does it; -order (FirstSignal, Cheapest, Preference) and -grace ask about a manager by the design.",
	examples: []string{
		"multikueue -manager m.json -worker a=a.json -workload NAMESPACE/NAME",
		"multikueue -manager m.json -worker a=a.json -worker b=b.json -until 1h",
		"multikueue -live -manager-context hub -worker a=east -worker b=west",
	},
	yes: "it runs or fits, victims are leaving for it, or a gate opens now", no: "no gate opens, or not yet",
	unknown: "unknown: the files do not decide it",
	own:     true,
	flags: func(c *cobra.Command, o *options) {
		flags, d := c.Flags(), &o.dispatch
		flags.StringArrayVar(&d.manager, "manager", nil, "read the manager from `FILE` (- is standard input)")
		flags.StringArrayVar(&d.workers, "worker", nil, "each worker: `NAME=FILE` (-live: NAME=CONTEXT)")
		flags.StringVar(&d.context, "manager-context", "", "with -live: the `CONTEXT` of kubectl of the manager")
		flags.StringVar(&o.workload, "workload", "", "ask about the workload `NAMESPACE/NAME` alone")
		flags.DurationVar(&d.timeout, "timeout", 0, "the `TIME` of each worker until the next gate (5m)")
		flags.StringVar(&d.order, "order", "", "by the design, in this `ORDER`, Preference: of -worker")
		choose(c, "order", "FirstSignal", "Preference", "Cheapest")
		flags.DurationVar(&d.grace, "grace", 0, "by the design: wait a `TIME` for a worker that fits")
		flags.StringSliceVar(&d.cost, "cost", nil, "what victims lose: `RESOURCES` times their run time")
		flags.DurationVar(&d.until, "until", 0, "play on for a `TIME`: when does it start")
		flags.DurationVar(&d.leave, "leave", 30*time.Second, "with -until: `TIME` that victims take")
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
		case d.order != "" && d.by.UnmarshalText([]byte(d.order)) != nil:
			return fmt.Errorf("-order %s: want FirstSignal, Preference or Cheapest", d.order)
		case d.grace < 0:
			return fmt.Errorf("-grace %v: want 0 or more", d.grace)
		case c.Flags().Changed("cost") && (len(d.cost) == 0 || slices.Contains(d.cost, "")):
			return errors.New("-cost: want the names of resources, as in -cost nvidia.com/gpu")
		case c.Flags().Changed("until") && d.until <= 0:
			return fmt.Errorf("-until %v: want more than 0", d.until)
		case c.Flags().Changed("leave") && (d.leave < 0 || d.until == 0):
			return fmt.Errorf("-leave %v: want 0 or more, with -until", d.leave)
		}
		d.design = c.Flags().Changed("order") || c.Flags().Changed("grace")
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
