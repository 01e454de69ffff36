// Whatif answers for a cluster in its present state: does this workload fit, whom does it
// preempt and why, or why nobody?
//
//	kubectl get clusterqueues,cohorts,localqueues,resourceflavors,workloads.kueue.x-k8s.io -A -o json |
//	  whatif -workload NAMESPACE/NAME
//
// The input is standard input or -f FILE, given once or several times: Kueue's objects as
// kubectl prints them, or KAI's (queues, pod groups, pods, priority classes), or cede's own
// State or Record; JSON or YAML, plain or gzip. If there are objects of both Kueue and KAI,
// -scheduler chooses. An object that cannot be read is left out, with a note. The workload is
// a pending one in the input, or a new one:
//
//	whatif -f cluster.json -request cpu=4,nvidia.com/gpu=8 -queue team-a -priority 100
//
// A Record contains its own request. Without arguments the input is an embedded sample.
//
// With -o json the answer is one object:
//
//	request   the request
//	decision  the decision, with the flavors that were assigned
//	victims   of each: workload, queue, reason, cohort, priority, reservedAt, age in
//	          seconds, evicted (already), holds (of what is requested)
//	queues    the queue tree of the request, top down: kind, name, depth, quota rows
//	notes     what the answer leaves out
//
// Exit status: 0 when it fits, at once or by preemption; 1 when it does not, or not yet; 2 for bad
// usage or input, with one line that says what.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/preemption"
)

func main() {
	os.Exit(run(os.Args[1:], cli.Piped(), os.Stdout, os.Stderr, time.Now))
}

// options are the options of the command line.
type options struct {
	files                                                     []string
	scheduler, workload, request, queue, name, flavor, output string
	priority, count                                           int64
	now                                                       time.Time
	asked                                                     bool // a time was given
	sharingSaid                                               bool // -fair was given
	in                                                        time.Duration
	all                                                       bool
	config                                                    preemption.Config
}

const usage = "usage: whatif [-f FILE]... [-scheduler kueue|kai] [-workload NAMESPACE/NAME [-queue QUEUE] | -request cpu=4,memory=8Gi -queue QUEUE [-priority N] [-count N]] " +
	"[-flavor F,...] [-fair [-strategies S,...]] [-at TIME] [-in 20m] [-all] [-o text|json]"

func parse(args []string, stdout io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("whatif", flag.ContinueOnError)
	flags.Func("f", "read the cluster from `FILE` (- is standard input); may be given several times", func(name string) error {
		o.files = append(o.files, name)
		return nil
	})
	flags.StringVar(&o.scheduler, "scheduler", "", "ask `kueue|kai` where the input holds objects of both")
	flags.StringVar(&o.workload, "workload", "", "ask about the pending workload `NAMESPACE/NAME` of the input")
	flags.StringVar(&o.request, "request", "", "ask about a new workload whose replicas take `RESOURCE=QUANTITY,...`")
	flags.StringVar(&o.queue, "queue", "", "the `QUEUE` of the workload, NAMESPACE/NAME for a local queue; of a pending one, in place of its own")
	flags.Int64Var(&o.priority, "priority", 0, "the priority of the new workload")
	flags.Int64Var(&o.count, "count", 1, "the number of replicas of the new workload")
	flags.StringVar(&o.name, "name", "new", "the name of the new workload")
	flags.StringVar(&o.flavor, "flavor", "", "take these `FLAVORS` instead of choosing")
	flags.BoolVar(&o.all, "all", false, "print all rows of the queue tree")
	flags.StringVar(&o.output, "o", "text", "print `text|json`")
	fair := flags.Bool("fair", false, "decide by fair sharing, or not (-fair=false); by default as the input says")
	strategies := flags.String("strategies", "", "the `STRATEGIES` of fair sharing: LessThanOrEqualToFinalShare, LessThanInitialShare, or both with a comma (the default)")
	at := flags.String("at", "", "decide for `TIME` (RFC 3339) instead of now")
	flags.DurationVar(&o.in, "in", 0, "decide for a time `LATER` than that, such as 20m")
	if err := cli.Parse(flags, args, usage, stdout); err != nil {
		return o, err
	}
	set := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { set[f.Name] = true })
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q; %s", flags.Arg(0), usage)
	case o.workload != "" && o.request != "":
		return o, errors.New("-workload names a workload of the input and -request describes a new one: give one of them")
	case o.request != "" && o.queue == "":
		return o, errors.New("-request needs -queue")
	case o.request == "" && (set["priority"] || set["count"] || set["name"]):
		return o, errors.New("-priority, -count and -name describe a new workload: they need -request")
	case o.request == "" && o.workload == "" && set["queue"]:
		return o, errors.New("-queue needs -request or -workload")
	case o.count < 1:
		return o, fmt.Errorf("-count %d: want at least 1", o.count)
	case o.scheduler != "" && o.scheduler != "kueue" && o.scheduler != "kai":
		return o, fmt.Errorf("-scheduler %q: want kueue or kai", o.scheduler)
	case o.output != "text" && o.output != "json":
		return o, fmt.Errorf("-o %q: want text or json", o.output)
	}
	o.sharingSaid = set["fair"] || set["strategies"]
	if err := o.share(*fair, *strategies); err != nil {
		return o, err
	}
	if o.asked = *at != ""; o.asked {
		var err error
		if o.now, err = time.Parse(time.RFC3339, *at); err != nil {
			return o, fmt.Errorf("-at %q: want a time as in 2026-11-21T12:00:00Z", *at)
		}
	}
	return o, nil
}

// share sets the configuration of fair sharing.
func (o *options) share(fair bool, strategies string) error {
	if !fair {
		if strategies != "" {
			return errors.New("-strategies are those of fair sharing: they need -fair")
		}
		return nil
	}
	o.config.Sharing = preemption.Fair
	if strategies == "" {
		return nil
	}
	for name := range strings.SplitSeq(strategies, ",") {
		var s preemption.FairStrategy
		if err := s.UnmarshalText([]byte(name)); err != nil {
			return fmt.Errorf("-strategies %q: %w", strategies, err)
		}
		o.config.Fair.Strategies = append(o.config.Fair.Strategies, s)
	}
	return nil
}

// run is main without the process. piped is nil if standard input is a terminal.
func run(args []string, piped io.Reader, stdout, stderr io.Writer, clock func() time.Time) int {
	o, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	var a *answer
	if err == nil {
		a, err = ask(o, piped, clock)
	}
	if err == nil && o.output == "json" {
		err = a.printJSON(stdout)
	} else if err == nil {
		err = a.printText(stdout, o.all)
	}
	if err != nil {
		fmt.Fprintf(stderr, "whatif: %s\n", printable.Text(strings.ReplaceAll(err.Error(), "\n", " ")))
		return 2
	}
	if o := a.decision.Outcome; o != preemption.Fits && o != preemption.Preempt {
		return 1
	}
	return 0
}
