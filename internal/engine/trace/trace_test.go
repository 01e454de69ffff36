package trace_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/internal/engine/trace"
)

// Those that one rule keeps in one queue are one step a phase: a few named, all counted.
func TestSkippedAreCounted(t *testing.T) {
	var r trace.Recorder
	for phase := range 2 {
		r.Add(trace.Step{Kind: trace.PhaseBegins})
		for i := range 9 {
			r.Skip(trace.Step{Verdict: trace.Verdict{Rule: trace.Guarded}, Node: i % 2, Workload: fmt.Sprint(phase, i), Count: 2})
		}
		r.Skip(trace.Step{Verdict: trace.Verdict{Rule: trace.NotUsed}, Workload: "other", Count: 1})
	}
	var got []string
	for _, s := range r.Steps {
		got = append(got, fmt.Sprintf("%v %v %d %s %v %d", s.Kind, s.Rule, s.Node, s.Workload, s.Others, s.Count))
	}
	want := []string{
		"PhaseBegins none 0  [] 0",
		"Skipped Guarded 0 0 0 [0 2 0 4 0 6] 10", "Skipped Guarded 1 0 1 [0 3 0 5 0 7] 8", "Skipped NotUsed 0 other [] 1",
		"PhaseBegins none 0  [] 0",
		"Skipped Guarded 0 1 0 [1 2 1 4 1 6] 10", "Skipped Guarded 1 1 1 [1 3 1 5 1 7] 8", "Skipped NotUsed 0 other [] 1",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("\n got  %q\n want %q", got, want)
	}
}

// Past the most steps they are counted only.
func TestStepsAreBounded(t *testing.T) {
	r := trace.Recorder{MaxSteps: 2, MaxSamples: 1}
	for range 5 {
		r.Add(trace.Step{Kind: trace.Taken})
	}
	r.Skip(trace.Step{Verdict: trace.Verdict{Rule: trace.Guarded}, Count: 1})
	if len(r.Steps) != 2 || r.Dropped != 4 {
		t.Errorf("%d steps, %d dropped", len(r.Steps), r.Dropped)
	}
	r = trace.Recorder{MaxSamples: 1}
	r.Skip(trace.Step{Workload: "a", Count: 1})
	r.Skip(trace.Step{Workload: "b", Count: 1})
	if s := r.Steps; len(s) != 1 || len(s[0].Others) != 0 || s[0].Count != 2 {
		t.Errorf("%+v", s)
	}
}
