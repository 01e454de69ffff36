// Bench measures decisions on the worlds that Kueue was measured on, and on larger and harder
// ones, and checks every answer.
//
//	bench [-quick] [-cold] [-hostile [-workloads N]] [-scenario GLOB,...] [-world GLOB,...] [-by policies|rules] [-o FORM] [-compare FILE]
//
// A row is a request on a world, or an operation on its snapshot: new-snapshot, sync, admit, settle
// and others. Time is the median of five batches that together take -time, or of fewer if one
// operation takes longer. The last answer is checked (column "by"):
//
//	kueue       the victims are those that Kueue took on the same world
//	definition  the victims are those that the scenario was made from
//	law         with the victims gone the request fits, and with any one of them in place it does not
//
// Steps is the number of workloads looked at. Blocks are the basic blocks of the library's code that run: a program counts them if it is
// built by .ci/counting-bench. No loop escapes them. Kueue's time is the time of its search alone
// (GetTargets); its scheduler makes another search for each resource.
//
// With -by rules the queues have rules that say the same as their policies, and these decide alone.
// Where rules cannot say the same, the answer is checked by the law.
//
// With -cold there is the time of a decision with cold caches, too (column "cold"): the median
// of 21 decisions, before each of which the program goes through 64 MB.
//
// With -hostile the states are built to make one decision slow: each is asked in sharing of each kind, by the best search, by rules, for
// RetryAt and blockers, and for an explanation; those of nodes in each mode and with moves. Time is that of the processor, the least of
// up to three decisions; a state grows to -workloads as long as the next size would probably take less than three seconds. With -quick it
// asks about 1,000 and 4,000 workloads: steps and allocations must grow hardly faster than in proportion.
//
// The forms of -o: table; json, one object in one line with version, commit, machine and rows (name, world, scenario, mode, workloads,
// queues, victims, steps, ns_op, b_op, allocs_op, ok, checked_by, and, if any, blocks, cold_ns, kueue_ns and error); steps, the same
// with name, steps, allocs_op and blocks alone, which are those of any machine.
//
// With -compare it tells what is worse than in an earlier report of -o json or -o steps: more steps, allocations or blocks by more than -more
// percent, and, as a warning only, more time by more than -slower percent.
//
// Exit status: 0 when every answer was right, 1 when one was wrong or a row counts more than -compare permits, 2 for
// bad usage.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
)

func main() {
	same := func(d scenario.Decide) scenario.Decide { return d }
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr, same))
}

const usage = "usage: bench [-quick] [-cold] [-hostile] [-workloads N] [-scenario GLOB,...] [-world GLOB,...] [-mode classical|fair] [-by policies|rules] [-time D] [-o table|json|steps] [-compare FILE]"

// options are the options of the command line.
type options struct {
	scenarios, worlds globs
	mode              scenario.Mode
	by                string        // policies, rules or 64-rules
	minimum           time.Duration // the time to measure each row
	quick, cold       bool
	output            string  // what is printed
	compare           string  // the file of an earlier report
	more, slower      float64 // percent
	hostile           bool
	workloads         int // of the largest hostile state
}

// The forms of the output.
const (
	asTable = "table"
	asJSON  = "json"
	asSteps = "steps"
)

// globs is a list of patterns, separated by commas or given several times. An empty list
// matches everything.
type globs []string

func (g *globs) String() string { return strings.Join(*g, ",") }

func (g *globs) Set(text string) error {
	for pattern := range strings.SplitSeq(text, ",") {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return fmt.Errorf("%q is not a pattern", pattern)
		}
		*g = append(*g, pattern)
	}
	return nil
}

func (g globs) match(name string) bool {
	for _, pattern := range g {
		if ok, _ := path.Match(pattern, name); ok {
			return true
		}
	}
	return len(g) == 0
}

func parse(args []string, stdout io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.Var(&o.scenarios, "scenario", "measure these `SCENARIOS` only: names or globs, with commas or given again")
	flags.Var(&o.worlds, "world", "measure on these `WORLDS` only")
	mode := flags.String("mode", string(scenario.Classical), "decide by `classical|fair` preemption")
	flags.StringVar(&o.by, "by", byPolicies, "decide by `policies|rules`")
	flags.DurationVar(&o.minimum, "time", 250*time.Millisecond, "the time to measure each row")
	flags.BoolVar(&o.quick, "quick", false, "10ms for each row, and fewer large worlds: under 40 s on 2 cores")
	flags.BoolVar(&o.cold, "cold", false, "measure each decision with cold caches, too")
	flags.StringVar(&o.output, "o", asTable, "print `table|json|steps`")
	flags.StringVar(&o.compare, "compare", "", "compare with the report of json or steps in `FILE`")
	flags.Float64Var(&o.more, "more", 5, "compare: permit this many `PERCENT` more steps and allocations")
	flags.Float64Var(&o.slower, "slower", 50, "compare: warn of more time than this many `PERCENT` more")
	flags.BoolVar(&o.hostile, "hostile", false, "ask about states that are built to make one decision slow")
	flags.IntVar(&o.workloads, "workloads", 100_000, "hostile: the `SIZE` of the largest state")
	if err := cli.Parse(flags, args, usage, stdout, "-quick", "-quick -o json > before.json", "-quick -compare before.json"); err != nil {
		return o, err
	}
	o.mode = scenario.Mode(*mode)
	timed := false
	flags.Visit(func(f *flag.Flag) { timed = timed || f.Name == "time" })
	if o.quick && !timed {
		o.minimum = 10 * time.Millisecond
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q; %s", flags.Arg(0), usage)
	case o.mode != scenario.Classical && o.mode != scenario.Fair:
		return o, fmt.Errorf("-mode %q: want classical or fair", *mode)
	case !slices.Contains([]string{byPolicies, byRules}, o.by):
		return o, fmt.Errorf("-by %q: want policies or rules", o.by)
	case o.minimum <= 0:
		return o, fmt.Errorf("-time %v: want more than 0", o.minimum)
	case !slices.Contains([]string{asTable, asJSON, asSteps}, o.output):
		return o, fmt.Errorf("-o %q: want table, json or steps", o.output)
	case o.hostile && (o.cold || o.by != byPolicies || o.quick && o.compare != ""):
		return o, errors.New("-hostile: it goes with neither -cold nor -by, and with -quick not with -compare")
	case o.workloads < leastHostile:
		return o, fmt.Errorf("-workloads %d: want at least %d", o.workloads, leastHostile)
	case !(o.more >= 0 && o.slower >= 0):
		return o, errors.New("-more and -slower: want zero or more")
	}
	return o, nil
}

// run is main without the process. Tests wrap the function that decides.
func run(args []string, stdout, stderr io.Writer, wrap func(scenario.Decide) scenario.Decide) int {
	o, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	var earlier report
	if err == nil && o.compare != "" {
		earlier, err = openEarlier(o.compare) // before any measurement
	}
	var preemptor *preemption.Preemptor
	if err == nil {
		preemptor, err = preemption.New(o.config())
	}
	var rows []row
	switch {
	case err != nil:
	case o.hostile && o.quick:
		rows, earlier, err = quickly(o, printer(o, stdout))
	case o.hostile:
		rows, err = hostile(o, sizesUpTo(o.workloads), printer(o, stdout))
	default:
		b := bench{options: o, preemptor: preemptor, decide: wrap(preemptor.Decide)}
		if o.cold {
			b.memory = make([]byte, coldBytes)
		}
		rows, err = b.all(printer(o, stdout))
	}
	if err != nil {
		fmt.Fprintf(stderr, "bench: %s\n", strings.ReplaceAll(err.Error(), "\n", " "))
		return 2
	}
	switch o.output {
	case asJSON:
		err = printReport(stdout, rows)
	case asSteps:
		err = printSteps(stdout, rows)
	case asTable:
		if o.hostile {
			printSlowest(stdout, rows)
		} else {
			printSummary(stdout, rows)
		}
	}
	worse := 0
	if err == nil && (o.compare != "" || o.hostile && o.quick) {
		worse, err = compare(stderr, o, earlier, rows)
	}
	if err != nil {
		fmt.Fprintf(stderr, "bench: %s\n", strings.ReplaceAll(err.Error(), "\n", " "))
		return 2
	}
	status := min(worse, 1)
	for _, r := range rows {
		if !r.OK {
			status = 1
			fmt.Fprintf(stderr, "bench: wrong: %s %s: %s\n", r.World, r.Scenario, r.Error)
		}
	}
	return status
}
