// Scheduler is a scheduler loop to copy: events, snapshot, cycle, edits. It reads events, one
// JSON object in each line, and prints actions in the same form; without input it uses an
// embedded list of events.
//
// Copy scheduler.go. Replace this file: where events come from (watches, a log) and where
// actions go (API calls). The other duties of a caller of cede are few: keep one snapshot and
// one pending queue up to date, and pass the time as an argument. Locks are not needed: both
// values are immutable.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/preemption/cycle"
)

//go:embed events.jsonl
var sample string

const usage = "usage: scheduler < EVENTS (one JSON object in each line; without input, an embedded list of events)"

func main() {
	os.Exit(command(os.Args[1:], cli.Piped(), os.Stdout, os.Stderr))
}

// command is main without the process. piped is nil if standard input is a terminal.
func command(args []string, piped io.Reader, stdout, stderr io.Writer) int {
	fail := func(err error) int {
		fmt.Fprintf(stderr, "scheduler: %s\n", printable.Line(strings.ReplaceAll(err.Error(), "\n", " ")))
		return 2
	}
	if len(args) > 0 {
		if slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
			fmt.Fprintln(stdout, usage)
			return 0
		}
		return fail(fmt.Errorf("%q: want no arguments; %s", args[0], usage))
	}
	if piped == nil {
		piped = strings.NewReader(sample)
	}
	if err := run(piped, stdout); err != nil {
		return fail(err)
	}
	return 0
}

// maxLine limits an event: a configuration of 20,000 queues takes about 5 MB.
const maxLine = 8 << 20

func run(in io.Reader, out io.Writer) error {
	s, err := New(cycle.Config{})
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(printable.JSON(out)) // names may hold characters that a terminal would act on
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	events, line := 0, 1
	for ; lines.Scan(); line++ {
		text := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\ufeff")))
		if len(text) == 0 {
			continue
		}
		events++
		e, err := readEvent(text)
		var actions []Action
		if err == nil {
			actions, err = s.Handle(e)
		}
		for _, a := range actions {
			err = cmp.Or(err, encoder.Encode(a))
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("line %d: more than %d MiB in one line: a configuration may come in several", line, maxLine>>20)
	case err != nil:
		return fmt.Errorf("line %d: %w", line, err)
	case events == 0:
		return errors.New("there are no events in the input")
	}
	return nil
}

// readEvent reads an event strictly: a misspelled field is an error, not a tick.
func readEvent(text []byte) (e Event, err error) {
	if err := input.DecodeStrict(text, &e); err != nil {
		return e, err
	}
	var fields map[string]json.RawMessage
	if err := input.DecodeStrict(text, &fields); err != nil {
		return e, err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if value := string(fields[name]); value == "null" || value == `""` {
			return e, fmt.Errorf("%s: is empty", name)
		}
	}
	switch {
	case e.At.IsZero():
		return e, errors.New("at: the time of the event is missing")
	case e.Shrunk != nil && len(e.Shrunk.Replicas) == 0:
		return e, errors.New("shrunk.replicas: is empty")
	case len(fields) > 2:
		return e, errors.New("more than one event: want one of configure, submit, gone, shrunk, open")
	}
	return e, nil
}
