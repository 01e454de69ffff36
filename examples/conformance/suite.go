package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/conformance/suite"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/preemption/recorded"
)

// verbs are those about the suite.
var verbs = map[string]func(args []string, stdin io.Reader, stdout, stderr io.Writer) int{
	"run": runProgram, "answer": answerAll, "cases": printCases, "claims": printClaims,
}

// parse parses the flags of a verb; status is -1 if it should go on.
func parse(flags *flag.FlagSet, args []string, usage string, rest bool, stdout, stderr io.Writer, examples ...string) (status int) {
	err := cli.Parse(flags, args, usage, stdout, examples...)
	if err == nil && !rest && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q; %s", flags.Arg(0), usage)
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return bad(stderr, err)
	}
	return -1
}

func bad(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "conformance: %s\n", printable.Line(err.Error()))
	return 2
}

// runProgram asks a program.
func runProgram(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	const usage = "usage: conformance run [-claims FILE] [-json] [-show N] [-each D] [-total D] -- PROGRAM ARGUMENT..."
	flags := flag.NewFlagSet("conformance run", flag.ContinueOnError)
	claimsFile := flags.String("claims", "", "ask what `FILE` claims; without it everything")
	asJSON := flags.Bool("json", false, "print the report as one JSON object")
	show := flags.Int("show", 10, "print at most `N` failed cases")
	var o suite.Options
	flags.DurationVar(&o.Each, "each", 0, "the longest time for an answer, 10s if zero")
	flags.DurationVar(&o.Total, "total", 0, "the longest time for all, 10m if zero")
	if status := parse(flags, args, usage, true, stdout, stderr, "-- ./my-scheduler", "-claims claims.json -show 3 -- ./my-scheduler", "-json -- ./my-scheduler"); status >= 0 {
		return status
	}
	if flags.NArg() == 0 {
		return bad(stderr, fmt.Errorf("no program; %s", usage))
	}
	if o.Each < 0 || o.Total < 0 || *show < 0 {
		return bad(stderr, errors.New("-each, -total and -show: want zero or more"))
	}
	var claims suite.Claims
	if *claimsFile != "" {
		data, err := os.ReadFile(*claimsFile)
		if err == nil {
			if claims, err = suite.ParseClaims(data); err != nil {
				err = fmt.Errorf("%s: %w", *claimsFile, err)
			}
		}
		if err != nil {
			return bad(stderr, err)
		}
	}
	list, err := suite.Cases()
	if err != nil {
		return bad(stderr, err)
	}
	o.Stderr = stderr
	report, err := suite.Run(flags.Args(), list, claims, o)
	switch {
	case err != nil:
		return bad(stderr, err)
	case report.Passed+report.Failed == 0:
		return bad(stderr, errors.New("nothing was asked: no case uses only what is claimed"))
	case *asJSON:
		err = json.NewEncoder(stdout).Encode(report)
	default:
		report.Print(printable.Lines(stdout), *show)
	}
	switch {
	case err != nil:
		return bad(stderr, err)
	case report.Failed > 0:
		return 1
	}
	return 0
}

// answerAll answers each question of the standard input, as programs that run asks do.
func answerAll(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("conformance answer", flag.ContinueOnError)
	if status := parse(flags, args, "usage: conformance answer < QUESTIONS", false, stdout, stderr, "< questions.jsonl"); status >= 0 {
		return status
	}
	out := bufio.NewWriter(stdout)
	err := recorded.Lines(fileName("-"), stdin, func(_ int, line []byte) error {
		var q suite.Asked
		if err := json.Unmarshal(line, &q); err != nil {
			return err
		}
		a := suite.Answered{ID: q.ID}
		var err error
		if a.Answer, err = suite.Answer(q.Form, q.Question); err != nil {
			a.Error = err.Error()
		}
		if err := json.NewEncoder(out).Encode(a); err != nil {
			return err
		}
		return out.Flush() // the one who asks waits for it
	})
	if err != nil {
		return bad(stderr, err)
	}
	return 0
}

// printCases prints the archive.
func printCases(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("conformance cases", flag.ContinueOnError)
	form := flags.String("form", "", "print the cases of this `FORM` only: "+strings.Join(suite.Forms(), ", "))
	id := flags.String("id", "", "print the case with this `ID` only")
	if status := parse(flags, args, "usage: conformance cases [-form FORM] [-id ID]", false, stdout, stderr, "", "-form FORM", "-id ID"); status >= 0 {
		return status
	}
	if *form != "" && !slices.Contains(suite.Forms(), *form) {
		return bad(stderr, fmt.Errorf("-form %q: want one of %s", *form, strings.Join(suite.Forms(), ", ")))
	}
	list, err := suite.Cases()
	if err == nil && *id != "" && !slices.ContainsFunc(list, func(c suite.Case) bool { return c.ID == *id }) {
		return bad(stderr, fmt.Errorf("-id %q: there is no such case", *id))
	}
	for i := 0; i < len(list) && err == nil; i++ {
		if (*form == "" || list[i].Form == *form) && (*id == "" || list[i].ID == *id) {
			err = json.NewEncoder(stdout).Encode(list[i])
		}
	}
	if err != nil {
		return bad(stderr, err)
	}
	return 0
}

// printClaims prints what can be claimed, with the number of cases.
func printClaims(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("conformance claims", flag.ContinueOnError)
	if status := parse(flags, args, "usage: conformance claims", false, stdout, stderr); status >= 0 {
		return status
	}
	list, err := suite.Cases()
	if err != nil {
		return bad(stderr, err)
	}
	forms, features := map[string]int{}, map[string]int{}
	for _, c := range list {
		forms[c.Form]++
		for _, name := range c.Features {
			features[name]++
		}
	}
	fmt.Fprintln(stdout, "forms")
	for _, name := range suite.Forms() {
		fmt.Fprintf(stdout, "  %-20s %5d cases\n", name, forms[name])
	}
	fmt.Fprintln(stdout, "features")
	for _, f := range suite.Features() {
		fmt.Fprintf(stdout, "  %-20s %5d cases  %s\n", f.Name, features[f.Name], f.About)
	}
	fmt.Fprintln(stdout, "parts")
	fmt.Fprintf(stdout, "  %s\n", strings.Join(suite.Parts(), "\n  "))
	return 0
}
