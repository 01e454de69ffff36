package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	long: "Answers about workloads that a manager of MultiKueue sent to worker clusters with orchestrated preemption (KEP-8303): does one fit in a worker now, are victims leaving somewhere, which gate does the manager open next and when, and who would yield in each worker. It reads the objects of the manager and of every worker, and answers as Kueue 0.19 does; where the design does otherwise, it says so. Without -workload it is about all that the manager sent out and that does not run, in the order of their queues in the manager.",
	examples: []string{
		"multikueue -manager manager.json -worker a=a.json -worker b=b.json -workload NAMESPACE/NAME",
		"multikueue -live -manager-context hub -worker a=east -worker b=west",
	},
	yes: "it runs or fits, victims are leaving for it, or a gate opens now", no: "no gate opens, or not yet",
	unknown: "unknown: the files do not decide it",
	own:     true,
	flags: func(c *cobra.Command, o *options) {
		flags, d := c.Flags(), &o.dispatch
		flags.StringArrayVar(&d.manager, "manager", nil, "read the manager cluster from `FILE` (- is standard input); may be given several times")
		flags.StringArrayVar(&d.workers, "worker", nil, "read the worker that the manager calls NAME from a file, `NAME=FILE`, or with -live from a context of kubectl; give each worker")
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
		questions, err := f.questions(o)
		if err != nil {
			return result{}, err
		}
		out := dispatched{Now: f.now, Workloads: []workers.Answer{}, Notes: f.notes}
		for i := range questions {
			out.Workloads = append(out.Workloads, questions[i].Answer())
		}
		names := []string{}
		for i := range out.Workloads {
			names = append(names, out.Workloads[i].Workload)
		}
		return result{statusOfDispatch(out.Workloads), func(b *cli.Page) { f.print(b, o, &out) }, out, names}, nil
	},
}

// dispatched is the answer of multikueue.
type dispatched struct {
	Now       time.Time        `json:"now"`
	Workloads []workers.Answer `json:"workloads"`
	Notes     []string         `json:"notes"`
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

// questions are those about the workloads that are asked about.
func (f *fleet) questions(o *options) (list []workers.Question, err error) {
	ids := f.sentOut()
	if len(f.manager.Checks)+len(f.manager.Unreached)+len(f.manager.Workers)+len(ids) == 0 {
		const why = "what was read as the manager has no AdmissionCheck of MultiKueue and no workers: it may be another cluster"
		if o.workload != "" {
			return nil, errors.New(why)
		}
		f.notes = append(f.notes, why)
	}
	if o.workload != "" {
		if _, known := f.manager.Copies[o.workload]; !known {
			return nil, f.notSent(o.workload, ids)
		}
		ids = []string{o.workload}
	}
	for _, id := range ids {
		q, err := f.question(id, o)
		if err != nil {
			return nil, err
		}
		list = append(list, q)
	}
	return list, nil
}

// sentOut are the workloads of the manager that have a check of MultiKueue and do not run: by queue, and then in its order.
func (f *fleet) sentOut() (ids []string) {
	for id, c := range f.manager.Copies {
		check, _ := f.checkOf(&c)
		state := ""
		for _, s := range c.Checks {
			if s.Name == check {
				state = s.State
			}
		}
		if check != "" && !c.Finished.Is() && state != "Ready" {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(x, y string) int {
		a, b := f.manager.Copies[x], f.manager.Copies[y]
		return cmp.Or(strings.Compare(a.Queue, b.Queue), cmp.Compare(b.Priority, a.Priority), a.Queued.Compare(b.Queued), strings.Compare(x, y))
	})
	return ids
}

// notSent says why a workload cannot be asked about.
func (f *fleet) notSent(id string, sent []string) error {
	if why := f.manager.Unread["Workload "+id]; why != "" {
		return fmt.Errorf("workload %q of the manager cannot be read: %s", id, why)
	}
	if slices.ContainsFunc(f.hub.Found.Pending, isNamed(id)) {
		return fmt.Errorf("workload %s waits in the manager, which has not sent it out: ask whatif -f MANAGER -workload %s", id, id)
	}
	return fmt.Errorf("workload %q is not among those that the manager sent out%s", id, nearest(id, sent))
}
