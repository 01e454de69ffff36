package placement_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
)

// notebook makes a preemptor record its steps.
type notebook struct {
	placement.Guard
	*trace.Recorder
}

func traced(t fatal, c placement.Config, s *placement.Snapshot, r placement.Request, to *trace.Recorder) placement.Decision {
	t.Helper()
	c.Guards = append(slices.Clone(c.Guards), notebook{Recorder: to})
	d := decide(t, c, s, r)
	return d
}

// A recorder changes no answer. The domain that is chosen is the one of the answer, and what
// is recorded of it are the victims of the answer.
func tracesTellTheAnswer(t *rapid.T) {
	st, r, c, d := draw(t)
	recorder := trace.Recorder{MaxSamples: 1 << 20, MaxSteps: 1 << 20}
	noDiff(t, "- without a recorder, + with one", d, traced(t, c, snapshotOf(t, st), r, &recorder))
	var chosen, best *trace.Step
	basic := false
	for i := range recorder.Steps {
		switch step := &recorder.Steps[i]; {
		case step.Kind == trace.PodBegins:
			basic = true
		case step.Kind == trace.DomainEnds && step.Found == trace.Victims && step.Fits:
			best = step
		case step.Kind == trace.Chosen:
			chosen = step
		}
	}
	switch {
	case basic || d.Outcome != preemption.Preempt: // each pod has a domain of its own
	case chosen == nil || best == nil:
		t.Fatalf("nothing is chosen: %+v", recorder.Steps)
	case chosen.Domain != d.Domain || best.Domain != d.Domain || int(best.Count) != len(d.Victims) || best.Violations != d.Violations:
		t.Fatalf("%+v, best %+v, but %+v", chosen, best, d)
	}
}

func TestTracesTellTheAnswer(t *testing.T) { rapid.Check(t, tracesTellTheAnswer) }

// BenchmarkTrace is what a recorder costs. That it costs nothing when there is none is seen
// in the other benchmarks, and in TestAllocationsAreThoseOfTheAnswer.
func BenchmarkTrace(b *testing.B) {
	s := snapshotOf(b, fleet{nodes: 200, perNode: 4, levels: 3, covered: 5}.state())
	for name, r := range map[string]placement.Request{"gang": gang(20, 2000, 2), "pod": {Priority: 1 << 20, Pods: gang(1, 2000, 2).Pods}} {
		b.Run("off/"+name, func(b *testing.B) {
			for b.Loop() {
				decide(b, placement.Config{}, s, r)
			}
		})
		b.Run("on/"+name, func(b *testing.B) {
			for b.Loop() {
				traced(b, placement.Config{}, s, r, new(trace.Recorder))
			}
		})
	}
}
