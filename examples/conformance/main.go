// Conformance asks decisions recorded from other schedulers again, and prints where the library decides differently.
//
//	conformance [-json] [-search kai] [-show N] FILE...
//	conformance -convert FILE...
//	conformance run [-claims FILE] [-json] [-show N] [-each D] [-total D] -- PROGRAM ARGUMENT...
//	conformance answer
//	conformance cases [-form FORM] [-id ID]
//	conformance claims
//
// The first two are about decisions of other schedulers, the others about the suite of cede's own cases (package suite,
// docs/conformance.md): run asks any program over its standard input and output what it claims, answer is cede's own program of that
// kind, cases prints the archive, and claims what can be claimed.
//
// Each file holds JSON Lines, plain or gzip, one case in each line; "-" or no file is standard input. A case has the form of
// package recorded: any scheduler can record its decisions in it, and compare what it does with what cede would do. The program
// compares all that a case wants: victims with their reasons, when to ask again, rows of the quota tree and of shares, forecasts;
// fair shares; of a workload with gates, which gate is opened and when to look again; on nodes, victims, places and units, and how
// many pods move. With -search kai sessions of KAI are played with its own search for victims, which cede's answers
// do not need. A case departs if every difference is explained by a departure listed in docs/departures.md; the departures are predicates on the case.
//
// It reads more forms, in which Kueue's preemptor, Kueue's gates, kube-scheduler and, of v1.37, its decisions about pod groups,
// YuniKorn, Koordinator, KAI's consolidation, its fair shares, its sessions and its integration tables were recorded (package
// foreign), and with -convert prints them in the form of package recorded. A case in several steps becomes a question for each step
// that brings waiting pods.
//
// A case that no decision answers is counted with the reason, and not asked.
//
// Exit status: 0 when nothing failed, 1 when a case did, 2 for bad usage or input: a line that is no case, and a file of which
// nothing was asked.
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

	"github.com/cedesched/cede/examples/conformance/foreign"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/preemption/recorded"
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
	ID          string                `json:"id"`
	Line        int                   `json:"line"`
	Error       string                `json:"error,omitempty"` // the case could not be asked
	Differences []recorded.Difference `json:"differences,omitempty"`
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		if verb := verbs[args[0]]; verb != nil {
			return verb(args[1:], stdin, stdout, stderr)
		}
	}
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print one JSON object for each file, with every failed case")
	convert := flags.Bool("convert", false, "print the cases in the form of package recorded, and ask nothing")
	search := flags.String("search", "", "play sessions of KAI with its own search: `kai`")
	show := flags.Int("show", 5, "print at most `N` failed cases of each file")
	switch err := cli.Parse(flags, args, "usage: conformance [-convert] [-json] [-search kai] [-show N] [FILE...]", stdout, "cases.jsonl.gz", "-json cases.jsonl", "-convert cases.jsonl"); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "conformance: %s\n", printable.Line(err.Error()))
		return 2
	case *search != "" && *search != "kai":
		fmt.Fprintf(stderr, "conformance: -search %q: want kai\n", *search)
		return 2
	}
	files := flags.Args()
	if len(files) == 0 {
		files = []string{"-"}
	}
	status := 0
	for _, name := range files {
		r := newReport(name)
		ask := r.ask
		if *convert {
			ask = func(_ int, c asked) error {
				if c.form == nil {
					return fmt.Errorf("case %q: a session of KAI has no form of package recorded", c.id)
				}
				return json.NewEncoder(stdout).Encode(c.form)
			}
		}
		err := each(name, stdin, *search, ask)
		if err == nil && !*convert {
			err = r.nothingAsked()
		}
		if err != nil {
			fmt.Fprintf(stderr, "conformance: %s\n", printable.Line(err.Error()))
			return 2
		}
		if r.Failed > 0 {
			status = 1
		}
		switch {
		case *convert:
		case *asJSON:
			err = json.NewEncoder(printable.JSON(stdout)).Encode(r)
		default:
			err = r.print(stdout, *show)
		}
		if err != nil {
			fmt.Fprintf(stderr, "conformance: %s\n", printable.Line(err.Error()))
			return 2
		}
	}
	return status
}

// fileName returns the name of a file in messages.
func fileName(name string) string {
	if name == "-" {
		return "(standard input)"
	}
	return name
}

// asked is a case that can be asked. Sessions of KAI have no form of package recorded.
type asked struct {
	id    string
	check func() (recorded.Report, error)
	form  *recorded.Case
}

// each calls yield for every case of a file, in a foreign form or in that of package recorded.
func each(name string, stdin io.Reader, search string, yield func(line int, c asked) error) error {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	return recorded.Lines(fileName(name), in, func(line int, text []byte) error {
		if s, ok, err := foreign.ParseSession(text); ok || err != nil {
			if err != nil {
				return err
			}
			if search != "" {
				s.KAISearch()
			}
			return yield(line, asked{id: s.ID, check: s.Check})
		}
		c, ok, err := foreign.Case(text)
		if !ok && err == nil {
			c, err = recorded.Parse(text)
		}
		if err == nil {
			err = c.Validate()
		}
		if err != nil {
			return err
		}
		return yield(line, asked{c.ID, c.Check, c})
	})
}

func newReport(name string) *report {
	return &report{File: fileName(name), Departures: map[string]int{}, Stories: map[string]int{}}
}

// ask asks a case.
func (r *report) ask(line int, c asked) error {
	result, err := c.check()
	switch {
	case err != nil:
		r.Failed++
		r.Failures = append(r.Failures, failure{ID: c.id, Line: line, Error: err.Error()})
	case !result.Passed():
		r.Failed++
		r.Failures = append(r.Failures, failure{ID: c.id, Line: line, Differences: result.Differences})
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
}

// nothingAsked is the error of a file without a case that was asked: a success would say nothing.
func (r *report) nothingAsked() error {
	switch {
	case r.Passed+r.Failed+r.Departed > 0:
		return nil
	case r.NotAsked == 0:
		return fmt.Errorf("%s: it has no case", r.File)
	}
	var why []string
	for _, story := range slices.Sorted(maps.Keys(r.Stories)) {
		why = append(why, fmt.Sprintf("%d of %d cases: %s", r.Stories[story], r.NotAsked, story))
	}
	return fmt.Errorf("%s: nothing was asked: %s", r.File, strings.Join(why, "; "))
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
