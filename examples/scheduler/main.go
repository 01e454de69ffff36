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
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cedesched/cede/preemption/cycle"
)

//go:embed events.jsonl
var sample string

const usage = "usage: scheduler < EVENTS (one JSON object in each line; without input, an embedded list of events)"

func main() {
	var piped io.Reader
	if info, err := os.Stdin.Stat(); err == nil && info.Mode()&os.ModeCharDevice == 0 {
		piped = os.Stdin
	}
	os.Exit(command(os.Args[1:], piped, os.Stdout, os.Stderr))
}

// command is main without the process. piped is nil if standard input is a terminal.
func command(args []string, piped io.Reader, stdout, stderr io.Writer) int {
	fail := func(err error) int {
		fmt.Fprintf(stderr, "scheduler: %s\n", printable(err.Error()))
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

// printable returns a text as one line, which is cut if it is long: an error may name a value of any
// length.
func printable(text string) string {
	const most = 4000
	rest := ""
	if len(text) > most {
		end := most
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text, rest = text[:end], fmt.Sprintf("... (%d bytes more)", len(text)-end)
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text) + rest
}

// maxLine limits an event: a configuration of 20,000 queues takes about 5 MB.
const maxLine = 8 << 20

func run(in io.Reader, out io.Writer) error {
	s, err := New(cycle.Config{})
	if err != nil {
		return err
	}
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
			if err == nil {
				err = write(out, a)
			}
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

// write prints an action. Names may hold characters that a terminal would act on: they are
// escaped as in JSON.
func write(out io.Writer, a Action) error {
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	var line []byte
	for _, r := range string(data) {
		if unicode.IsPrint(r) {
			line = utf8.AppendRune(line, r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			line = fmt.Appendf(line, `\u%04x`, unit)
		}
	}
	_, err = out.Write(append(line, '\n'))
	return err
}

// readEvent reads an event strictly: a misspelled field is an error, not a tick.
func readEvent(text []byte) (e Event, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&e)
	var mismatch *json.UnmarshalTypeError
	var noTime *time.ParseError
	kinds := 0
	for _, is := range []bool{e.Configure != nil, e.Submit != nil, e.Gone != "", e.Shrunk != nil, e.Open != nil} {
		if is {
			kinds++
		}
	}
	switch {
	case errors.As(err, &mismatch) && mismatch.Field != "":
		return e, fmt.Errorf("%s: want %v, found %s", mismatch.Field, mismatch.Type, mismatch.Value)
	case errors.As(err, &mismatch):
		return e, fmt.Errorf("want an event, as an object, found %s", mismatch.Value)
	case errors.As(err, &noTime):
		return e, fmt.Errorf("%q is not a time, as in 2026-01-01T08:00:00Z", noTime.Value)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return e, errors.New("JSON ends early")
	case err != nil:
		return e, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	case decoder.More():
		return e, errors.New("more than one JSON object in the line")
	case e.At.IsZero():
		return e, errors.New("at: the time of the event is missing")
	case e.Shrunk != nil && len(e.Shrunk.Replicas) == 0:
		return e, errors.New("shrunk.replicas: is empty")
	case kinds > 1:
		return e, errors.New("more than one event: want one of configure, submit, gone, shrunk, open")
	}
	return e, checkFields(text)
}

// checkFields refuses what encoding/json reads in silence: a field that an object has twice, and an
// event that is null or has no name.
func checkFields(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	type level struct {
		fields map[string]bool // nil: an array
		name   string          // of the field whose value comes next
	}
	var levels []level
	for {
		token, err := decoder.Token()
		if err != nil {
			return nil // the end: the text was read before
		}
		if token == json.Delim('}') || token == json.Delim(']') {
			levels = levels[:len(levels)-1]
			continue
		}
		if depth := len(levels); depth > 0 && levels[depth-1].fields != nil {
			in := &levels[depth-1]
			name, isName := token.(string)
			switch {
			case in.name == "" && isName:
				key := name
				if in.name = name + ":"; depth == 1 {
					key = strings.ToLower(name)
				}
				if in.fields[key] && depth == 1 {
					return fmt.Errorf("%s: is there twice", name)
				} else if in.fields[key] {
					return fmt.Errorf("%s: is there twice in one object", name)
				}
				in.fields[key] = true
				continue
			case depth == 1 && token == nil:
				return fmt.Errorf("%s is null", in.name)
			case depth == 1 && token == "":
				return fmt.Errorf("%s is empty", in.name)
			}
			in.name = ""
		}
		switch token {
		case json.Delim('{'):
			levels = append(levels, level{fields: map[string]bool{}})
		case json.Delim('['):
			levels = append(levels, level{})
		}
	}
}
