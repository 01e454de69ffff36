// Conformance asks decisions recorded from other schedulers again, and prints where the
// library decides differently.
//
//	conformance [-rules] FILE...
//
// Each file holds JSON Lines, plain or gzip, one case in each line; "-" or no file is
// standard input. For each case the program compares the victims with their reasons, the rows
// of the quota tree, and the rows of the preemption oracle (possibility and borrow height);
// for KAI's cases, the protections; for cases about gates, whose gate is opened, when to ask
// again, and the result of a gated workload; for a case about nodes, everything that it
// expects. A case departs if every difference is explained by a departure listed in
// docs/departures.md; the departures are predicates on the case.
//
// With -rules the program compares no recorded answer. It asks each case of Kueue's preemptor by its
// policies, and by preemption rules that say the same.
//
// A case of a kind that tells a story in words (integration) is counted, and not asked.
//
// Exit status: 0 when nothing failed, 1 when a case did, 2 for bad usage or input: a case of an
// unknown kind, and a file of which nothing was asked.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/internal/proof/corpus"
	"github.com/cedesched/cede/preemption"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// report is the report on a file; with -json it is one object in one line.
type report struct {
	File       string         `json:"file"`
	Passed     int            `json:"passed"`
	Failed     int            `json:"failed"`
	Departed   int            `json:"departed"`
	NotAsked   int            `json:"notAsked,omitempty"`
	Departures map[string]int `json:"departures,omitempty"` // cases by departure
	Stories    map[string]int `json:"stories,omitempty"`    // cases not asked, by reason
	Failures   []failure      `json:"failures,omitempty"`
}

type failure struct {
	ID          string              `json:"id"`
	Line        int                 `json:"line"`
	Error       string              `json:"error,omitempty"` // the case could not be asked
	Differences []corpus.Difference `json:"differences,omitempty"`
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print one JSON object for each file, with every failed case")
	byRules := flags.Bool("rules", false, "compare decisions by policies with those by rules that say the same")
	show := flags.Int("show", 5, "print at most `N` failed cases of each file")
	switch err := cli.Parse(flags, args, "usage: conformance [-json] [-rules] [-show N] [FILE...]", stdout); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "conformance: %s\n", printable.Line(err.Error()))
		return 2
	}
	files := flags.Args()
	if len(files) == 0 {
		files = []string{"-"}
	}
	status := 0
	for _, name := range files {
		r, err := check(name, stdin, *byRules)
		if err != nil {
			fmt.Fprintf(stderr, "conformance: %s\n", printable.Line(err.Error()))
			return 2
		}
		if r.Failed > 0 {
			status = 1
		}
		if *asJSON {
			err = json.NewEncoder(printable.JSON(stdout)).Encode(r)
		} else {
			err = r.print(stdout, *show)
		}
		if err != nil {
			fmt.Fprintf(stderr, "conformance: %s\n", printable.Line(err.Error()))
			return 2
		}
	}
	return status
}

// check asks every case of a file.
func check(name string, stdin io.Reader, byRules bool) (report, error) {
	r := report{File: name, Departures: map[string]int{}, Stories: map[string]int{}}
	in := stdin
	if name == "-" {
		r.File = "(standard input)"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return r, err
		}
		defer f.Close()
		in = f
	}
	preemptor, err := preemption.New(preemption.Config{})
	if err != nil {
		return r, err
	}
	err = corpus.Read(r.File, in, func(line int, c corpus.Asker) error {
		result, err := ask(c, preemptor, byRules)
		switch {
		case err != nil:
			r.Failed++
			r.Failures = append(r.Failures, failure{ID: c.ID(), Line: line, Error: err.Error()})
		case !result.Passed():
			r.Failed++
			r.Failures = append(r.Failures, failure{ID: c.ID(), Line: line, Differences: result.Differences})
		case result.NotAsked != "":
			r.NotAsked++
			r.Stories[result.NotAsked]++
		case len(result.Departures) > 0:
			r.Departed++
			for _, name := range result.Departures {
				r.Departures[name]++
			}
		default:
			r.Passed++
		}
		return nil
	})
	if err == nil && r.Passed+r.Failed+r.Departed == 0 {
		err = r.nothingAsked()
	}
	return r, err
}

// nothingAsked is the error of a file without a case that was asked: a success would say nothing.
func (r *report) nothingAsked() error {
	if r.NotAsked == 0 {
		return fmt.Errorf("%s: it has no case", r.File)
	}
	var why []string
	for _, story := range slices.Sorted(maps.Keys(r.Stories)) {
		why = append(why, fmt.Sprintf("%d of %d cases: %s", r.Stories[story], r.NotAsked, story))
	}
	return fmt.Errorf("%s: nothing was asked: %s", r.File, strings.Join(why, "; "))
}

func ask(c corpus.Asker, p *preemption.Preemptor, byRules bool) (corpus.Report, error) {
	if !byRules {
		return c.Check(p)
	}
	if of, ok := c.(*corpus.Case); ok {
		return of.CheckRules()
	}
	return corpus.Report{NotAsked: "it is no case of Kueue's preemptor"}, nil
}

func (r *report) print(w io.Writer, show int) error {
	for i, f := range r.Failures {
		if i == show {
			fmt.Fprintf(w, "... and %d more failed cases (-show N, or -json for all)\n\n", len(r.Failures)-show)
			break
		}
		printable.Fprintf(w, "FAIL %s (%s:%d)\n", f.ID, r.File, f.Line)
		if f.Error != "" {
			printable.Fprintf(w, "  cannot be asked: %s\n", f.Error)
		}
		for _, d := range f.Differences {
			printable.Fprintf(w, "  %s (- wanted, + got)\n", d.What)
			printOnly(w, "-", d.Want, d.Got)
			printOnly(w, "+", d.Got, d.Want)
		}
		fmt.Fprintln(w)
	}
	_, err := io.WriteString(w, printable.Sprintf("%s: %d passed, %d failed, %d departed\n", r.File, r.Passed, r.Failed, r.Departed))
	for _, name := range slices.Sorted(maps.Keys(r.Departures)) {
		_, err = io.WriteString(w, printable.Sprintf("  departed %d: %s\n", r.Departures[name], name))
	}
	for _, why := range slices.Sorted(maps.Keys(r.Stories)) {
		_, err = io.WriteString(w, printable.Sprintf("  not asked %d: %s\n", r.Stories[why], why))
	}
	return err
}

// printOnly prints the lines that are not in the other list.
func printOnly(w io.Writer, sign string, lines, other []string) {
	for _, line := range lines {
		if !slices.Contains(other, line) {
			printable.Fprintf(w, "    %s %s\n", sign, line)
		}
	}
}
