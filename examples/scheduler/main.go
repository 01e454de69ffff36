// Scheduler is a scheduler loop to copy: events in, snapshot, cycle, edits out. It reads
// events, one JSON object a line, and prints what to do, likewise; without input it runs
// on events of its own.
//
// What to copy is scheduler.go. What is yours to replace is this file: where events come
// from (watches, a log) and where actions go (API calls). The rest is the caller's whole
// duty towards cede: one snapshot and one pending queue, kept up to date; the time as an
// argument; no locks, as both are immutable and can be handed to anybody.
package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cedesched/cede/preemption/cycle"
)

//go:embed events.jsonl
var sample string

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintf(os.Stderr, "scheduler: %q: want no arguments; events come on standard input\n", os.Args[1])
		os.Exit(2)
	}
	in := io.Reader(os.Stdin)
	if info, err := os.Stdin.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		in = strings.NewReader(sample)
	}
	if err := run(in, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "scheduler: %v\n", err)
		os.Exit(2)
	}
}

func run(in io.Reader, out io.Writer) error {
	s, err := New(cycle.Config{})
	if err != nil {
		return err
	}
	lines, write := bufio.NewScanner(in), json.NewEncoder(out)
	for line := 1; lines.Scan(); line++ {
		var e Event
		err := json.Unmarshal(lines.Bytes(), &e)
		var actions []Action
		if err == nil {
			actions, err = s.Handle(e)
		}
		for _, a := range actions {
			if err == nil {
				err = write.Encode(a)
			}
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
	return lines.Err()
}
