// Nodes replays pods on the nodes of a cluster, with and without moves: how long large pods wait, what is evicted, what is moved.
//
//	nodes [-pods FILE] [-speed N] [-load PERCENT,...] [-checkpoint D] [-restart D]
//
// FILE has pods as the openb trace gives them (columns num_gpu, gpu_milli, cpu_milli, memory_mib, qos, creation_time,
// scheduled_time, deletion_time in seconds; plain or gzip). Without it a month of pods of such shapes is drawn; the same seed gives
// the same pods. Arrivals come -speed times as fast; the number of nodes, of 8 GPUs each, follows from the load.
//
// Three policies: wait (no preemption), preempt (package placement), moves (package moves: first all victims must have places, then
// they move if they can). A pod that is evicted or moved loses what it did since its last checkpoint, and restarts. Exit status: 0,
// or 2 for bad usage or input.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/cli"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr, cli.ScreenOf(os.Stdout, os.Stderr, os.Getenv)))
}

type options struct {
	pods                string
	seed                uint64
	speed               int64
	loads               []int64
	checkpoint, restart time.Duration
}

const usage = "usage: nodes [-pods FILE] [-seed N] [-speed N] [-load PERCENT,...] [-checkpoint D] [-restart D]"

func parse(args []string, stdout io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("nodes", flag.ContinueOnError)
	flags.StringVar(&o.pods, "pods", "", "a trace; empty: drawn")
	flags.Uint64Var(&o.seed, "seed", 1, "of the pods that are drawn")
	flags.Int64Var(&o.speed, "speed", 10, "how many times as fast pods arrive, 1 to 1000")
	loads := flags.String("load", "75,90,105", "GPU time asked for, as a percentage of what there is, 10 to 200")
	flags.DurationVar(&o.checkpoint, "checkpoint", time.Hour, "how often a pod saves its work; 0: never")
	flags.DurationVar(&o.restart, "restart", time.Minute, "how long a pod takes to start again")
	if err = cli.Parse(flags, args, usage, stdout, "", "-seed 2 -load 90", "-pods pods.csv -checkpoint 30m"); err != nil {
		return o, err
	}
	for text := range strings.SplitSeq(*loads, ",") {
		load, err := strconv.ParseInt(text, 10, 64)
		if err != nil || load < 10 || load > 200 {
			return o, fmt.Errorf("-load %q: want percentages, 10 to 200", text)
		}
		o.loads = append(o.loads, load)
	}
	switch {
	case flags.NArg() > 0:
		err = fmt.Errorf("%q: want no arguments", flags.Arg(0))
	case o.speed < 1 || o.speed > 1000:
		err = fmt.Errorf("-speed %d: want 1 to 1000", o.speed)
	case o.checkpoint < 0 || o.restart < 0:
		err = fmt.Errorf("-checkpoint %v -restart %v: want none negative", o.checkpoint, o.restart)
	}
	return o, err
}

func run(args []string, stdout, stderr io.Writer, screen cli.Screen) int {
	o, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return cli.StatusYes
	}
	var pods []pod
	if err == nil {
		pods, err = podsOf(&o)
	}
	if err == nil {
		err = show(&o, pods, stdout, screen)
	}
	if err != nil {
		fmt.Fprintln(stderr, "nodes:", err)
		return cli.StatusBad
	}
	return cli.StatusYes
}

func podsOf(o *options) ([]pod, error) {
	if o.pods == "" {
		return drawn(o.seed), nil
	}
	f, err := os.Open(o.pods)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	pods, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.pods, err)
	}
	return pods, nil
}

// show replays the pods at each load, by each policy.
func show(o *options, pods []pod, stdout io.Writer, screen cli.Screen) error {
	page := &cli.Page{Screen: screen}
	var large int
	for i := range pods {
		if pods[i].gpu >= largeGPU {
			large++
		}
	}
	page.Say("%d pods, %d of them large (4 GPUs or more), %d times as fast\n", len(pods), large, o.speed)
	t := &cli.Table{Columns: []cli.Column{
		{Name: "LOAD", Right: true}, {Name: "NODES", Right: true}, {Name: "POLICY"}, {Name: "WAIT, LARGE", Right: true}, {Name: "P95", Right: true},
		{Name: "WAIT, ALL", Right: true}, {Name: "EVICTED", Right: true}, {Name: "MOVED", Right: true}, {Name: "LOST GPU-H", Right: true}, {Name: "BY MOVES", Right: true},
	}}
	for _, load := range o.loads {
		for _, p := range policies {
			m, err := replay(o, pods, load, p)
			if err != nil {
				return err
			}
			t.Row(fmt.Sprintf("%d%%", load), m.nodes, p.name, hours(mean(m.large)), hours(quantile(m.large, 95)), hours(mean(m.all)), m.evicted, m.moved,
				gpuHours(m.lost), gpuHours(m.lostByMoves))
		}
	}
	page.Table(t)
	return page.Print(stdout)
}

func hours(seconds int64) string {
	return (time.Duration(seconds) * time.Second).Round(time.Second).String()
}
func gpuHours(milli int64) string { return fmt.Sprintf("%.1f", float64(milli)/1000/3600) }

func mean(list []int64) (sum int64) {
	for _, v := range list {
		sum += v
	}
	return sum / max(1, int64(len(list)))
}

func quantile(list []int64, percent int) int64 {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	return list[min(len(list)-1, len(list)*percent/100)]
}
