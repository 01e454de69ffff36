// Nodes answers for a cluster in its present state: does this pod or pod group have room on
// the nodes, and which pods yield for it? If none do, it says why.
//
//	kubectl get nodes,pods,namespaces,poddisruptionbudgets,priorityclasses,podgroups.scheduling.k8s.io -A -o json |
//	  nodes -pod NAMESPACE/NAME
//
// (Leave out podgroups if the cluster has none, add compositepodgroups if it has.) The input is standard input or -f FILE,
// given once or several times, JSON or YAML, plain or gzip. Of an object that cannot be read counts what
// can: a pod still takes its room. If the answer depends on the rest, it is unknown. The request is a pod (-pod) or a pod group (-group) that waits in
// the input, or a manifest with a Pod, or with a PodGroup and its Pods (-m FILE; -count makes
// copies of a single pod, as a gang). Without arguments the input is an embedded sample.
//
// nodes clear says which nodes or racks can be emptied, and what that costs.
//
// With -o json the answer is one object: verdict, doubts, request, decision, notes; of nodes clear it has answer in place of decision.
//
// Exit status: 0 when there is room, at once or by preemption; 1 when there is none, not yet, or when
// the pods are held; 2 for bad usage or input, with one line that says what; 3 when the answer is
// unknown, because it depends on something that cannot be read or is not supported.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
)

func main() {
	debug.SetGCPercent(400) // an answer takes a moment: time counts
	os.Exit(run(os.Args[1:], cli.Piped(), os.Stdout, os.Stderr, cli.ScreenOf(os.Stdout, os.Stderr, os.Getenv)))
}

// options are the options of the command line.
type options struct {
	files                                  []string
	manifest, pod, group, topology, output string
	assume                                 []string
	count                                  int
	config                                 placement.Config
	now                                    time.Time // zero where no minimum runtime is set
}

const usage = "usage: nodes [-f FILE]... [-pod NAMESPACE/NAME | -group NAMESPACE/NAME | -m MANIFEST [-count N]] " +
	"[-mode design|in-place] [-order first-fit|best-fit|round-robin] [-budgets soft|hard] [-topology LABEL] " +
	"[-min-runtime DURATION [-now TIME]] [-assume PATH]... [-o text|json]"

var (
	modes   = map[string]placement.Mode{"design": placement.ModeDesign, "in-place": placement.ModeInPlace}
	orders  = map[string]placement.Order{"first-fit": placement.FirstFit, "best-fit": placement.BestFit, "round-robin": placement.RoundRobin}
	budgets = map[string]placement.BudgetMode{"soft": placement.Soft, "hard": placement.Hard}
)

func parse(args []string, stdout io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("nodes", flag.ContinueOnError)
	flags.Func("f", "read the cluster from `FILE` (- is standard input); may be given several times", func(name string) error {
		o.files = append(o.files, name)
		return nil
	})
	flags.StringVar(&o.manifest, "m", "", "ask about the pod or pod group in `MANIFEST`")
	flags.StringVar(&o.pod, "pod", "", "ask about the pod `NAMESPACE/NAME` that waits in the input")
	flags.StringVar(&o.group, "group", "", "ask about the pod group `NAMESPACE/NAME` that waits in the input")
	flags.IntVar(&o.count, "count", 0, "ask for `N` copies of the pod in the manifest, all or none")
	flags.StringVar(&o.topology, "topology", "", "place a group on nodes with the same value of `LABEL`")
	mode := flags.String("mode", "design", "decide as in the `design|in-place` (KEP-5710; as built in v1.37)")
	order := flags.String("order", "first-fit", "try nodes by `first-fit|best-fit|round-robin`")
	budget := flags.String("budgets", "soft", "keep disruption budgets `soft|hard`")
	minimum := flags.Duration("min-runtime", 0, "protect each pod until it has run for `DURATION`")
	now := flags.String("now", "", "decide as of `TIME` (RFC 3339); without it, the time of the machine")
	flags.Func("assume", "take `PATH`, a field or the name of an object as a doubt names it, as without effect; may be given several times", func(path string) error {
		o.assume = append(o.assume, path)
		return nil
	})
	flags.StringVar(&o.output, "o", "text", "print `text|json`")
	if err := cli.Parse(flags, args, usage, stdout, "-f cluster.json -pod NAMESPACE/NAME", "-mode in-place -f cluster.json -pod NAMESPACE/NAME", "-f cluster.json -m pod.yaml -count 4"); err != nil {
		return o, err
	}
	var known [3]bool
	o.config.Mode, known[0] = modes[*mode]
	o.config.Order, known[1] = orders[*order]
	o.config.Budgets, known[2] = budgets[*budget]
	var err error
	if *minimum > 0 {
		o.config.MinRuntime = quota.Some(*minimum)
		o.now = time.Now()
	}
	if *now != "" {
		o.now, err = parseNow(*now)
	}
	asked := 0
	for _, name := range []string{o.pod, o.group, o.manifest} {
		if name != "" {
			asked++
		}
	}
	switch {
	case *minimum < 0:
		return o, fmt.Errorf("-min-runtime %v: want a duration that is not negative", *minimum)
	case *now != "" && *minimum == 0:
		return o, errors.New("-now is the time for -min-runtime: it needs that")
	case err != nil:
		return o, err
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q; %s", flags.Arg(0), usage)
	case asked > 1:
		return o, errors.New("-pod, -group and -m each say who asks: give one of them")
	case o.count < 0:
		return o, fmt.Errorf("-count %d: want at least 1", o.count)
	case o.count > maxCount:
		return o, fmt.Errorf("-count %d: want at most %d", o.count, maxCount)
	case o.count > 0 && o.manifest == "":
		return o, errors.New("-count makes copies of a pod in a manifest: it needs -m")
	case slices.Contains(o.files, "-") && o.manifest == "-":
		return o, errors.New("-f and -m cannot both be standard input")
	case !known[0]:
		return o, fmt.Errorf("-mode %q: want design or in-place", *mode)
	case !known[1]:
		return o, fmt.Errorf("-order %q: want first-fit, best-fit or round-robin", *order)
	case !known[2]:
		return o, fmt.Errorf("-budgets %q: want soft or hard", *budget)
	case o.config.Mode == placement.ModeInPlace && *order != "first-fit":
		return o, errors.New("-order is for other modes: in mode in-place kube-scheduler says which node is best")
	case o.output != "text" && o.output != "json":
		return o, fmt.Errorf("-o %q: want text or json", o.output)
	}
	return o, nil
}

func parseNow(text string) (time.Time, error) {
	now, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return now, fmt.Errorf("-now %q: want a time as in 2026-03-01T08:00:00Z", text)
	}
	return now, nil
}

const maxCount = 100_000

// run is main without the process. piped is nil if standard input is a terminal.
func run(args []string, piped io.Reader, stdout, stderr io.Writer, screen cli.Screen) int {
	if len(args) > 0 && args[0] == "clear" {
		return runClear(args[1:], piped, stdout, stderr, screen)
	}
	o, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	var a *answer
	if err == nil {
		a, err = ask(o, piped)
	}
	if err == nil && o.output == "json" {
		err = a.printJSON(stdout)
	} else if err == nil {
		err = a.printText(stdout, screen)
	}
	if err != nil {
		return bad(stderr, err)
	}
	return a.status()
}

func bad(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "nodes: %s\n", printable.Line(strings.ReplaceAll(err.Error(), "\n", "; ")))
	return cli.StatusBad
}
