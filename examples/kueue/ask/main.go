// Command ask answers the question of whatif with Kueue's own scheduler, in the same words: does a workload fit, whom does it
// preempt, or why not? It is for what whatif calls unknown.
//
//	kubectl get clusterqueues,cohorts,localqueues,resourceflavors,admissionchecks,topologies,workloads.kueue.x-k8s.io,namespaces,limitranges,runtimeclasses -A -o json > cluster.json
//	go run ./ask -f cluster.json -workload NAMESPACE/NAME
//
// The status is 0 for yes (it fits, or preempts), 1 for no or held, 2 for bad usage or input, 3 for unknown.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cedesched/cede/examples/kueue/judge"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/workload"
)

const usage = "usage: ask -f FILE -workload NAMESPACE/NAME [-at TIME] [-o json]"

func main() {
	status, err := run(os.Args[1:], os.Stdin, os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "ask:", err)
	}
	os.Exit(status)
}

// run answers, and returns the status.
func run(args []string, in io.Reader, out io.Writer) (int, error) {
	flags := flag.NewFlagSet("ask", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	file := flags.String("f", "", "the `FILE` with the objects, JSON or YAML; - for standard input")
	id := flags.String("workload", "", "the workload `NAMESPACE/NAME`")
	at := flags.String("at", "", "the `TIME` of the question, as in 2026-11-27T12:00:00Z; the present if it is not given")
	format := flags.String("o", "", "json: print the answer as JSON")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(out, usage)
		flags.SetOutput(out)
		flags.PrintDefaults()
		return 0, err
	case err != nil:
		return 2, fmt.Errorf("%w; %s", err, usage)
	case *file == "" || *id == "" || flags.NArg() > 0 || *format != "" && *format != "json":
		return 2, errors.New(usage)
	}
	now := time.Now()
	if *at != "" {
		var err error
		if now, err = time.Parse(time.RFC3339, *at); err != nil {
			return 2, fmt.Errorf("-at %q: want a time as in 2026-11-27T12:00:00Z", *at)
		}
	}
	read := func() ([]byte, error) { return os.ReadFile(*file) }
	if *file == "-" {
		read = func() ([]byte, error) { return io.ReadAll(in) }
	}
	objects, err := read()
	if err != nil {
		return 2, err
	}
	a, err := judge.Ask(context.Background(), objects, *id, now)
	if err != nil {
		return 2, err
	}
	if *format == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return statusOf(a.Verdict), encoder.Encode(a)
	}
	fmt.Fprintln(out, sentence(&a))
	if a.Message != "" && a.Verdict != judge.Held && a.Verdict != judge.Unknown {
		fmt.Fprintf(out, "Kueue %s says: %s.\n", judge.Version, a.Message)
	}
	return statusOf(a.Verdict), nil
}

// statusOf is the exit status: yes is what Kueue carries out, at once or by preemption.
func statusOf(v judge.Verdict) int {
	switch v {
	case judge.Fits, judge.Preempts:
		return 0
	case judge.Unknown:
		return 3
	}
	return 1
}

// sentence says an answer in the words of whatif.
func sentence(a *judge.Answer) string {
	switch a.Verdict {
	case judge.Held:
		return a.Workload + " is held: " + a.Message + "."
	case judge.Unknown:
		return "Whether " + a.Workload + " fits is unknown: " + a.Message + "."
	}
	d := preemption.Decision{Outcome: outcomes[a.Verdict]}
	for _, v := range a.Victims {
		d.Victims = append(d.Victims, preemption.Victim{Workload: v})
	}
	for _, v := range a.Leaving {
		d.Victims = append(d.Victims, preemption.Victim{Workload: v, Leaving: true})
	}
	r := preemption.Request{Workload: workload.Workload{ID: a.Workload}}
	for _, c := range a.Fewer {
		d.Counts = append(d.Counts, preemption.Replicas{PodSet: c.PodSet, Count: c.Count})
		r.Workload.PodSets = append(r.Workload.PodSets, workload.PodSet{Name: c.PodSet, Count: c.Of})
	}
	return a.Workload + " " + explain.Answer(&d, &r) + "."
}

var outcomes = map[judge.Verdict]preemption.Outcome{
	judge.Fits: preemption.Fits, judge.Preempts: preemption.Preempt, judge.Waits: preemption.Preempt, judge.Gated: preemption.Gated, judge.No: preemption.Impossible,
}
