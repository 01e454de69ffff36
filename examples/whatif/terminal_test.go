package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode"
)

// Names hold escape sequences, line breaks, and marks that turn the direction of writing.
// Nothing of it reaches a terminal: not in tables, sentences, notes, errors, JSON.
func TestNamesArePrintable(t *testing.T) {
	data := must(os.ReadFile("testdata/input/escapes.json"))(t)
	odd := "a\x1b[31mRED\x1b[0m\x1b]0;pwn\a"
	for _, args := range [][]string{
		{}, {"-all"}, {"-o", "json"}, {"-fair"}, {"-workload", "b/b1"}, {"-workload", "\x1b[2Jno\u202esuch"},
		{"-request", "cpu=99", "-queue", odd}, {"-request", "cpu=1", "-queue", "b\u202eevil\nline2", "-name", "n\r\x1b[K"},
		{"-request", "g\x1bpu=1", "-queue", odd}, {"-request", "cpu=1", "-queue", "none\n"}, {"-o", "\x9b"},
		{"-request", "cpu=99", "-queue", odd, "-flavor", "f\u2066"},
	} {
		status, stdout, stderr := call(strings.NewReader(string(data)), append([]string{"ask"}, args...)...)
		for _, out := range []string{stdout, stderr} {
			for line := range strings.Lines(out) {
				if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return !unicode.IsPrint(r) }) {
					t.Errorf("%q: %q", args, line)
				}
				if strings.HasPrefix(line, "FAKE") || strings.HasPrefix(line, "line2") {
					t.Errorf("%q: a name begins a line: %q", args, line)
				}
			}
		}
		if status == 2 && strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: %q", args, stderr)
		}
		if len(args) == 2 && args[1] == "json" {
			var answer struct{ Victims []victim }
			if err := json.Unmarshal([]byte(stdout), &answer); err != nil || len(answer.Victims) != 1 || !strings.Contains(answer.Victims[0].Queue, "\u202e") {
				t.Errorf("%v in %s", err, stdout)
			}
		}
	}
}

// All notes are in the answer, as text and as JSON; nothing is on standard error.
func TestAllNotesAreGiven(t *testing.T) {
	data := must(os.ReadFile("testdata/input/notes.json"))(t)
	status, stdout, stderr := call(strings.NewReader(string(data)), "ask")
	if status != 1 || stderr != "" || strings.Count(stdout, "\nNote: ") != 9 {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	_, stdout, stderr = call(strings.NewReader(string(data)), "ask", "-o", "json")
	var answer struct{ Notes []string }
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil || len(answer.Notes) != 9 || stderr != "" {
		t.Errorf("%v, %d notes, %s", err, len(answer.Notes), stderr)
	}
}

// What is piped and holds nothing is bad input: the answer is not about the sample.
func TestAnEmptyPipeIsAnError(t *testing.T) {
	for _, args := range [][]string{{}, {"-workload", "vision/detector-train"}, {"-request", "cpu=1", "-queue", "vision"}, {"-o", "json"}} {
		status, stdout, stderr := call(strings.NewReader(""), args...)
		if status != 2 || stdout != "" || !strings.Contains(stderr, "empty") {
			t.Errorf("%q: status %d, %q, %q", args, status, stdout, stderr)
		}
	}
}
