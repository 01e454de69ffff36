// Replay shows what preemption policies cost over weeks: it replays jobs in a closed loop, in
// which who is told to stop really stops, loses what it did since its last checkpoint, waits
// again and runs again.
//
//	replay [-world NAME,...] [-policy NAME,...] [-seeds 1-5] [-html FILE] [-plot FILE] [-times]
//	replay -o FILE [-resume] …      writes the result of each cell into a file, too
//	replay -results FILE            the table of such a file
//
// A world is drawn from quantiles that were measured on published traces, or read from a file.
// The table compares each policy with the first one. The same arguments print the same table,
// byte for byte, on every machine; how long decisions took is printed with -times alone.
//
// Exit status: 0; 1 if nothing could ever run in some world, or a replay was broken off because
// jobs evict each other in an endless circle; 2 for bad usage or input.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/loop"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/examples/internal/world"
	"github.com/cedesched/cede/examples/replay/internal/sweep"
)

// garbage is how much garbage there may be, in percent of what lives: what lives is small beside what a replay throws away.
const garbage = 300

func main() {
	debug.SetGCPercent(garbage)
	os.Exit(command(os.Args[1:], os.Stdout, os.Stderr, cli.ScreenOf(os.Stdout, os.Stderr, os.Getenv)))
}

const usage = "usage: replay [-world NAME,...] [-policy NAME,...] [-seeds LIST] [-html FILE] [-plot FILE] [-times] [-o FILE [-resume]] | -results FILE"

// The sweep without flags: under a minute of one core.
const (
	defaultWorlds   = "philly-vc+days=15+capacity=60,philly-chronus+days=1+capacity=60"
	defaultPolicies = "greedy,best,best+checkpoint+fewest,progress"
)

// options are the flags.
type options struct {
	worlds, policies       string
	seeds, quotas, cluster string
	qos                    string
	output, results        string
	html, plot, by         string
	times, markdown        bool
	resume                 bool
}

func parse(args []string, stdout io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	flags.StringVar(&o.worlds, "world", defaultWorlds, "replay these `WORLDS`: a source, then settings, as in philly-vc+days=10+capacity=60")
	flags.StringVar(&o.policies, "policy", defaultPolicies, "compare these `POLICIES` with the first: words, as in fair+best+checkpoint")
	flags.StringVar(&o.seeds, "seeds", "1", "draw each world with these `SEEDS`, as in 1-5")
	flags.StringVar(&o.quotas, "quotas", "", "the quotas of traces: a `FILE` with the columns vc and \"node num\" (vc_nodes.csv beside the trace)")
	flags.StringVar(&o.cluster, "cluster", "", "the queues of records: a `FILE` with ClusterQueues and Cohorts of Kueue")
	flags.StringVar(&o.qos, "qos", "", "who may preempt whom in records of Slurm: a `FILE` with what \"sacctmgr --parsable2 show qos\" prints")
	flags.StringVar(&o.output, "o", "", "write the results into `FILE`, one JSON object in each line, as soon as each is there")
	flags.BoolVar(&o.resume, "resume", false, "go on with a sweep that was broken off: do not replay again what is in the file of -o")
	flags.StringVar(&o.results, "results", "", "read results instead of replaying: a `FILE` of -o, or of replay-beam")
	flags.StringVar(&o.html, "html", "", "write tables and charts into one `FILE.html`")
	flags.StringVar(&o.plot, "plot", "", "draw the charts into `FILE.svg` or FILE.png")
	flags.StringVar(&o.by, "by", "priority", "divide the jobs by `priority,size,queue`, or some of these")
	flags.BoolVar(&o.times, "times", false, "measure how long decisions take, and print that, too")
	flags.BoolVar(&o.markdown, "markdown", false, "print tables in Markdown")
	words := flags.Bool("words", false, "print the sources and settings of -world and the words of -policy")
	if err = cli.Parse(flags, args, usage, stdout, "", "-world philly-vc+days=10+capacity=60 -policy greedy,best -seeds 1-3", "-results results.jsonl -html report.html"); err != nil {
		return o, err
	}
	if *words {
		fmt.Fprintf(stdout, "Sources of worlds: %s,\nor a file of records: sacct --parsable2, Workloads of Kueue, the releases of Philly and Helios, a CSV; gzipped or not. Settings:\n%s\nWords of policies:\n%s", strings.Join(world.Sources(), ", "), world.Help(), loop.Help())
		return o, flag.ErrHelp
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q; %s", flags.Arg(0), usage)
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	return o, o.check(given)
}

// check refuses flags that do not go together.
func (o *options) check(given map[string]bool) error {
	extension := filepath.Ext(o.plot)
	if _, err := parseBy(o.by); err != nil {
		return err
	}
	switch {
	case o.resume && o.output == "":
		return errors.New("-resume: name the file of the results with -o")
	case o.plot != "" && extension != ".svg" && extension != ".png":
		return fmt.Errorf("-plot %q: want a name that ends in .svg or .png", o.plot)
	case o.html != "" && filepath.Ext(o.html) != ".html":
		return fmt.Errorf("-html %q: want a name that ends in .html", o.html)
	}
	for _, name := range []string{"world", "policy", "seeds", "quotas", "cluster", "qos", "o"} {
		if o.results != "" && given[name] {
			return fmt.Errorf("-%s has no meaning with -results", name)
		}
	}
	return nil
}

// command is main without the process.
func command(args []string, stdout, stderr io.Writer, screen cli.Screen) int {
	o, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	var lines []sweep.Line
	if err == nil {
		lines, err = o.lines(screen)
	}
	if err == nil {
		err = o.report(stdout, lines, screen)
	}
	if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintf(stderr, "replay: %s\n", printable.Line(line))
		}
		return 2
	}
	if no := refusal(lines); no != "" {
		fmt.Fprintf(stderr, "replay: %s\n", printable.Text(no))
		return 1
	}
	return 0
}

// lines reads results, or replays.
func (o *options) lines(screen cli.Screen) (lines []sweep.Line, err error) {
	if o.results != "" {
		return sweep.ReadLines(o.results)
	}
	seeds, err := sweep.ParseSeeds(o.seeds)
	if err != nil {
		return nil, err
	}
	s, err := sweep.New(sweep.Input{Worlds: strings.Split(o.worlds, ","), Policies: strings.Split(o.policies, ","), Seeds: seeds, Quotas: o.quotas, Cluster: o.cluster, QOS: o.qos})
	if err != nil {
		return nil, err
	}
	r := running{Sweep: s, timed: o.times, screen: screen}
	if o.output == "" {
		return r.run()
	}
	write := toFile
	if o.resume {
		if r.known, err = s.Known(o.output); err != nil {
			return nil, err
		}
		write = goOn(r.known)
	}
	err = write(o.output, func(w io.Writer) error {
		r.each = func(l *sweep.Line) error { return l.Write(w) }
		lines, err = r.run()
		return err
	})
	return lines, err
}

// goOn returns how results are written behind those that are known. The file has these at every instant.
func goOn(known map[int]sweep.Line) func(string, func(io.Writer) error) error {
	return func(path string, write func(io.Writer) error) error {
		fresh := path + ".new"
		err := toFile(fresh, func(w io.Writer) error {
			for _, i := range slices.Sorted(maps.Keys(known)) {
				l := known[i]
				if err := l.Write(w); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			err = os.Rename(fresh, path)
		}
		if err != nil {
			return err
		}
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
}

func toFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// report prints the tables and draws the charts.
func (o *options) report(stdout io.Writer, lines []sweep.Line, screen cli.Screen) error {
	groups := group(lines)
	kinds, err := parseBy(o.by)
	if err != nil {
		return err
	}
	if o.plot != "" {
		if err := toFile(o.plot, func(w io.Writer) error { return drawAll(w, groups, filepath.Ext(o.plot) == ".png") }); err != nil {
			return err
		}
	}
	if o.html != "" {
		if err := toFile(o.html, func(w io.Writer) error { return writePage(w, groups, o.times) }); err != nil {
			return err
		}
	}
	if o.markdown {
		_, err := io.WriteString(stdout, markdown(groups, kinds, o.times))
		return err
	}
	page := cli.Page{Screen: screen}
	printAll(&page, groups, kinds, o.times)
	return page.Print(stdout)
}

// refusal says why the answer is no; empty: it is not.
func refusal(lines []sweep.Line) string {
	for i := range lines {
		l := &lines[i]
		switch {
		case l.Circle != "":
			return fmt.Sprintf("world %q, seed %d, policy %q: %s", l.World, l.Seed, l.Policy, l.Circle)
		case l.Finished == 0:
			return fmt.Sprintf("world %q, seed %d, policy %q: none of %d jobs could ever run", l.World, l.Seed, l.Policy, l.Jobs)
		}
	}
	return ""
}
