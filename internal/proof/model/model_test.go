package model

import (
	"errors"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var full = flag.Bool("full", false, "check the large models, too: forty million states, some minutes")

// failer is a test.
type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// picks chooses for a schedule.
func picks(t *rapid.T) func(int) int {
	return func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }
}

// told reports whether one of many schedules, always the same, tells.
func told(tells func(pick func(int) int) bool) bool {
	for seed := range uint64(20_000) {
		if tells(rand.New(rand.NewPCG(seed, 0)).IntN) {
			return true
		}
	}
	return false
}

// most is more states than a model has.
const most = 100_000_000

// found checks that the checker finds a fault, and shows a way to it.
func found(t *testing.T, name, want string, err error) {
	t.Helper()
	var fault *Fault
	if !errors.As(err, &fault) || !strings.Contains(fault.Problem, want) || len(fault.Trace) == 0 {
		t.Errorf("%s: %v, want %q and a way there", name, err, want)
	} else if testing.Verbose() {
		t.Logf("%s: %v", name, err)
	}
}

// counter is a system of a few states: it counts up to 3; from 2 it may go back to 1, if it returns.
func counter(returns bool) System[int, name] {
	return System[int, name]{
		Starts: []int{0}, Pack: func(s int) uint64 { return uint64(s) }, Unpack: func(key uint64) int { return int(key) },
		Next: func(s int, step func(name, int)) {
			if s < 3 {
				step("up", s+1)
			}
			if s == 2 && returns {
				step("back", 1)
			}
		},
		Fair:  func(by name) int { return map[name]int{"up": 0, "back": -1}[by] },
		Holds: func(int) string { return "" }, Moves: func(int, name, int) string { return "" }, Show: func(s int) string { return string(rune('0' + s)) },
	}
}

type name string

func (n name) String() string { return string(n) }

// The checker finds what is wrong with a state and with a step, and runs that wait for ever: in a circle if that is
// fair, or where nothing happens any more.
func TestChecker(t *testing.T) {
	m := counter(true)
	if r, err := m.Check(10); err != nil || r != (Report{States: 4, Steps: 4, Depth: 3}) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := m.Check(2); err == nil {
		t.Error("more states than it may visit are no error")
	}
	m.Holds = func(s int) string { return map[int]string{2: "two"}[s] }
	_, err := m.Check(10)
	found(t, "a state", "two", err)
	m = counter(true)
	m.Moves = func(_ int, by name, to int) string { return map[name]string{"back": "went back"}[by] }
	_, err = m.Check(10)
	found(t, "a step", "went back", err)
	m = counter(true)
	m.Waits = map[string]func(int) bool{"below three": func(s int) bool { return s < 3 }}
	_, err = m.Check(10)
	found(t, "a fair circle", "below three", err)
	if want := "below three\n    0.                          0\n    1. up                       1\n  and for ever:\n    2. up                       2\n    3. back                     1\n"; err == nil || err.Error() != want {
		t.Errorf("%v, want\n%s", err, want)
	}
	m = counter(false)
	m.Waits = map[string]func(int) bool{"below three": func(s int) bool { return s < 3 }}
	if _, err := m.Check(10); err != nil {
		t.Errorf("it must go on: %v", err)
	}
	m.Waits = map[string]func(int) bool{"at three": func(s int) bool { return s == 3 }}
	_, err = m.Check(10)
	found(t, "nothing happens any more", "at three", err)
	m = counter(true)
	m.Fair = func(name) int { return -1 }
	m.Waits = map[string]func(int) bool{"at zero": func(s int) bool { return s == 0 }}
	_, err = m.Check(10)
	found(t, "it need not go on", "at zero", err)
}
