package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/internal/golden"
)

func call(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(args, &out, &err, false)
	return status, out.String(), err.String()
}

// The same seed prints the same.
func TestOutput(t *testing.T) {
	status, stdout, stderr := call()
	if status != 0 || stderr != "" {
		t.Fatalf("status %d, %q", status, stderr)
	}
	golden.Check(t, "seed1", stdout)
	if _, again, _ := call(); again != stdout {
		t.Error("it does not print the same twice")
	}
	if _, other, _ := call("-seed", "2"); other == stdout {
		t.Error("the seed changes nothing")
	}
}

func TestUsage(t *testing.T) {
	for want, args := range map[string][]string{
		`-days 0: want 1 to 366`: {"-days", "0"}, `-clusters 99: want 1 to 32`: {"-clusters", "99"}, `"x": want no arguments`: {"x"},
		`-timeout 0s -grace 1m0s: want them positive`: {"-timeout", "0s"}, "invalid value": {"-seed", "-1"}, "not defined": {"-nosuch"},
	} {
		if status, stdout, stderr := call(args...); status != 2 || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: status %d, %q, %q", args, status, stdout, stderr)
		}
	}
	if status, stdout, _ := call("-h"); status != 0 || !strings.Contains(stdout, "-grace") {
		t.Errorf("-h: status %d, %q", status, stdout)
	}
}

// The progress bar is for terminals, and for what takes longer than a second.
func TestBar(t *testing.T) {
	for name, c := range map[string]struct {
		terminal bool
		ago      time.Duration
		shown    bool
	}{"slow": {true, time.Minute, true}, "quick": {true, 0, false}, "piped": {false, time.Minute, false}} {
		var out bytes.Buffer
		b := newBar(&out, c.terminal)
		b.started = b.started.Add(-c.ago)
		b.expect(3)
		for range 3 {
			b.step()
		}
		b.done()
		if shown := strings.Contains(out.String(), "simulating"); shown != c.shown {
			t.Errorf("%s: shown %t: %q", name, shown, out.String())
		}
	}
}
