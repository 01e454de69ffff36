package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/whatif/internal/serve"
)

// A person reads why in half a minute: the answer first, then what would change it; how it came about is with -o wide, whole.
func TestWhyIsShort(t *testing.T) {
	inputs := [][]string{{"-f", "incidents.yaml", "-at", "2026-11-24T09:00:00Z"}, {"-f", "testdata/input/held.yaml", "-at", "2026-11-20T12:00:00Z"}}
	for _, s := range answers.Samples {
		inputs = append(inputs, []string{"-sample", s})
	}
	var counts []int
	for _, input := range inputs {
		for _, args := range waitingIn(t, input) {
			args = append(append([]string{"why"}, args...), input...)
			_, brief, _ := call(nil, args...)
			_, wide, _ := call(nil, append(args, "-o", "wide")...)
			told, _, _ := strings.Cut(strings.ReplaceAll(brief, "go run ./examples/whatif", "whatif"), "This is an embedded sample.")
			n := len(strings.Fields(told))
			if counts = append(counts, n); n > 210 {
				t.Errorf("%q: %d words:\n%s", args, n, brief)
			}
			if strings.Split(brief, "\n")[0] != strings.Split(wide, "\n")[0] {
				t.Errorf("%q: -o wide begins otherwise:\n%s%s", args, brief, wide)
			}
			checkWide(t, args, brief, wide)
		}
	}
	if slices.Sort(counts); counts[len(counts)/2] > 115 {
		t.Errorf("%d words in the middle: %v", counts[len(counts)/2], counts)
	}
}

// checkWide fails if -o wide lacks a line of the explanation, or if the changes do not stand above the blockers without it.
func checkWide(t *testing.T, args []string, brief, wide string) {
	t.Helper()
	_, out, _ := call(nil, append(args, "-o", "json")...)
	var why serve.Why
	if err := json.Unmarshal([]byte(out), &why); err != nil {
		t.Fatal(err)
	}
	if why.Explanation == nil {
		return
	}
	for _, s := range why.Explanation.Steps {
		for _, line := range append(s.Lines, s.Title) {
			if s.Section != "" && !strings.Contains(wide, line) && !strings.Contains(strings.Join(args, " "), "kai") {
				t.Errorf("%q: -o wide lacks %q", args, line)
			}
		}
	}
	ways, blockers := strings.Index(brief, changeSection), strings.Index(brief, "WHY IT MAY NOT YIELD")
	if strings.Contains(brief, "Who may yield") || blockers >= 0 && ways > blockers {
		t.Errorf("%q:\n%s", args, brief)
	}
}

// Each help is a screen of 80 columns.
func TestHelpIsAScreen(t *testing.T) {
	for _, v := range append(verbs(), verb{}) {
		_, out, _ := call(nil, append(strings.Fields(v.name), "-h")...)
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if len(lines) > 40 {
			t.Errorf("%s -h has %d lines", v.name, len(lines))
		}
		for _, line := range lines {
			if len(strings.ReplaceAll(line, "go run ./examples/whatif", "whatif")) > 80 {
				t.Errorf("%s -h: %s", v.name, line)
			}
		}
	}
}

// The advice to open the gates has its command; without a gate that is closed it is refused.
func TestGatesAreOpened(t *testing.T) {
	const at = "2026-11-20T12:00:00Z"
	run := func(args ...string) (int, string) {
		status, out, said := call(nil, append(args, "-f", "testdata/input/gates.json", "-at", at)...)
		return status, out + said
	}
	if _, out := run("why", "n/gated"); !strings.Contains(out, "Open the gates: it preempts n/low\n") || !strings.Contains(out, "-at "+at+" -open-gates\n") {
		t.Error(out)
	}
	if status, out := run("ask", "n/gated", "-open-gates"); status != 0 || !strings.HasPrefix(out, "n/gated fits once n/low yields.") {
		t.Errorf("status %d: %s", status, out)
	}
	if status, out := run("ask", "n/never", "-open-gates"); status != 2 || !strings.Contains(out, "-open-gates: n/never has no preemption gate that is closed") {
		t.Errorf("status %d: %s", status, out)
	}
	if status, out := run("ask", "-request", "cpu=1", "-queue", "q", "-open-gates"); status != 2 || !strings.Contains(out, "a new one has no gates") {
		t.Errorf("status %d: %s", status, out)
	}
}
