package trace_test

import (
	"testing"

	"github.com/cedesched/cede/internal/engine/trace"
)

// Past the most steps they are counted only.
func TestStepsAreBounded(t *testing.T) {
	r := trace.Recorder{MaxSteps: 2}
	for range 5 {
		r.Add(trace.Step{Kind: trace.Taken})
	}
	if len(r.Steps) != 2 || r.Dropped != 3 {
		t.Errorf("%d steps, %d dropped", len(r.Steps), r.Dropped)
	}
}
