// Multicluster simulates a manager with worker clusters that are full, and a stream of urgent
// workloads that it sends to all of them at once: without preemption gates, with gates opened
// by first signal, and with gates opened for the cheapest offer after a grace time.
//
//	multicluster [-seed N] [-days N] [-clusters N] [-timeout D] [-grace D]
//
// It prints what the gates saved (preemptions, running time lost) and what they cost (delay
// of admission), and how the preemptions added up over time. The same seed gives the same
// output. Exit status: 0, or 2 for bad usage.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/guptarohit/asciigraph"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/examples/multicluster/internal/sim"
	"github.com/cedesched/cede/gate"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr, isTerminal(os.Stderr)))
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// options are the flags.
type options struct {
	seed           uint64
	days, clusters int
	timeout, grace time.Duration
}

func parse(args []string, stdout io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("multicluster", flag.ContinueOnError)
	flags.Uint64Var(&o.seed, "seed", 1, "of the streams of workloads")
	flags.IntVar(&o.days, "days", 3, "to simulate, 1 to 366")
	flags.IntVar(&o.clusters, "clusters", 3, "workers, 1 to 32")
	flags.DurationVar(&o.timeout, "timeout", gate.DefaultTimeout, "before the next cluster may preempt")
	flags.DurationVar(&o.grace, "grace", time.Minute, "to wait for a cluster that has room, where offers are compared")
	err = cli.Parse(flags, args, "usage: multicluster [flags]", stdout)
	switch {
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("%q: want no arguments", flags.Arg(0))
	case o.days < 1 || o.days > 366:
		err = fmt.Errorf("-days %d: want 1 to 366", o.days)
	case o.clusters < 1 || o.clusters > 32:
		err = fmt.Errorf("-clusters %d: want 1 to 32", o.clusters)
	case o.timeout <= 0 || o.grace < 0:
		err = fmt.Errorf("-timeout %v -grace %v: want them positive", o.timeout, o.grace)
	}
	return o, err
}

// samples is the number of points of a run in the chart.
const samples = 60

// outcome is a run with its preemptions over time.
type outcome struct {
	name string
	sim.Metrics
	overTime []float64
}

func run(args []string, stdout, stderr io.Writer, terminal bool) int {
	o, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	var outcomes []outcome
	if err == nil {
		outcomes, err = simulate(o, newBar(stderr, terminal))
	}
	if err == nil {
		_, err = io.WriteString(stdout, report(o, outcomes))
	}
	if err != nil {
		fmt.Fprintf(stderr, "multicluster: %s\n", printable.Line(err.Error()))
		return 2
	}
	return 0
}

// simulate runs the same streams three times.
func simulate(o options, b *bar) ([]outcome, error) {
	defer b.done()
	variants := []struct {
		name   string
		gated  bool
		orders gate.Config
	}{
		{"no gates", false, gate.Config{}},
		{"first signal", true, gate.Config{Timeout: o.timeout}},
		{"cheapest offer", true, gate.Config{Timeout: o.timeout, Order: gate.Cheapest, Grace: o.grace}},
	}
	b.expect(int64(len(variants) * samples))
	length := time.Duration(o.days) * 24 * time.Hour
	var outcomes []outcome
	for _, v := range variants {
		config := world(o, length)
		config.Gated, config.Gates = v.gated, v.orders
		w, err := sim.New(config)
		if err != nil {
			return nil, err
		}
		result := outcome{name: v.name}
		for i := range samples {
			if err := w.Run(config.Start.Add(length * time.Duration(i+1) / samples)); err != nil {
				return nil, err
			}
			result.overTime = append(result.overTime, float64(w.Metrics().Preemptions))
			b.step()
		}
		result.Metrics = w.Metrics()
		outcomes = append(outcomes, result)
	}
	return outcomes, nil
}

func report(o options, outcomes []outcome) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(table.Row{"", "preemptions", "wasted", "avoided", "running time lost", "urgent admitted", "after (mean)", "after (95%)", "gates opened"})
	var columns []table.ColumnConfig
	for i := 2; i <= 9; i++ {
		columns = append(columns, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	plain := outcomes[0]
	for _, r := range outcomes {
		mean, most := delays(r.Delays)
		t.AppendRow(table.Row{r.name, r.Preemptions, r.Wasted, plain.Preemptions - r.Preemptions,
			fmt.Sprintf("%d s", int64(r.LostWork/time.Second)), len(r.Delays), mean, most, r.Openings})
	}
	var lines [][]float64
	var names []string
	for _, r := range outcomes {
		lines, names = append(lines, r.overTime), append(names, r.name)
	}
	marks := []asciigraph.CharSet{asciigraph.DefaultCharSet, asciigraph.CreateCharSet("*"), asciigraph.CreateCharSet("o")}
	legend := fmt.Sprintf("preemptions over %d days: line %s, * %s, o %s", o.days, names[0], names[1], names[2])
	chart := asciigraph.PlotMany(lines, asciigraph.Height(12), asciigraph.Width(samples), asciigraph.Precision(0),
		asciigraph.SeriesChars(marks...), asciigraph.Caption(legend))
	return fmt.Sprintf("%d clusters, %d days, seed %d. Urgent workloads go to every cluster, until one has admitted them.\n\n%s\n\n%s\n",
		o.clusters, o.days, o.seed, t.Render(), chart)
}

// delays returns the mean delay and the delay that 95 of 100 do not exceed.
func delays(list []time.Duration) (mean, most time.Duration) {
	if len(list) == 0 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(list))
	var sum time.Duration
	for _, d := range sorted {
		sum += d
	}
	return (sum / time.Duration(len(sorted))).Round(time.Second), sorted[(len(sorted)-1)*95/100].Round(time.Second)
}
