package preemption_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

// notebook makes a preemptor record its steps.
type notebook struct {
	preemption.Guard
	*trace.Recorder
}

func traced(t failer, c preemption.Config, s *preemption.Snapshot, r preemption.Request, to *trace.Recorder) (preemption.Decision, trace.Names) {
	t.Helper()
	c.Guards = append(slices.Clone(c.Guards), notebook{Recorder: to})
	d := must(preemptorOf(c).Decide(s, r))(t)
	return d, to.Names
}

// A recorder changes no answer, and what it records tells the same: those that are taken in
// the last attempt and not put back are the victims.
func tracesTellTheAnswer(t *rapid.T) {
	record := preemptiontest.Records().Draw(t, "record")
	config := preemptiontest.Configs().Draw(t, "config")
	protect(t, &config, &record.State)
	reevaluate(t, &config)
	r := *record.Request
	r.Room = drawRoom(t, record.State)
	s := snapshotOf(t, record.State)
	recorder := trace.Recorder{MaxSamples: math.MaxInt, MaxSteps: math.MaxInt}
	d, names := traced(t, config, s, r, &recorder)
	noDiff(t, "- without a recorder, + with one", decideWith(t, config, s, r), d, sameDecision)
	whole, replicas := map[string]bool{}, map[string]int64{}
	for _, step := range recorder.Steps {
		var count int64
		switch step.Kind {
		case trace.Asked:
			if step.Fits != (d.Outcome == preemption.Fits) {
				t.Fatalf("it fits at first: %v, but the outcome is %v", step.Fits, d.Outcome)
			}
		case trace.AttemptBegins:
			clear(whole)
			clear(replicas)
		case trace.AttemptEnds:
			clear(whole)
			clear(replicas)
		case trace.Taken:
			count = 1
		case trace.PutBack:
			count = -1
		}
		switch {
		case count == 0:
		case step.PodSet < 0:
			whole[step.Workload] = count > 0
		default:
			replicas[fmt.Sprintf("%s/%s", step.Workload, names.PodSet(step.Workload, step.PodSet))] += count * step.Replicas
		}
	}
	for id, gone := range whole {
		if !gone {
			delete(whole, id)
		}
	}
	want, wantReplicas := map[string]bool{}, map[string]int64{}
	for _, v := range d.Victims {
		if len(v.Replicas) == 0 {
			want[v.Workload] = true
		}
		for _, p := range v.Replicas {
			wantReplicas[v.Workload+"/"+p.PodSet] = p.Count
		}
	}
	for _, v := range d.Victims { // of one that goes whole, replicas that went before are a part
		if w, _ := s.Find(v.Workload); want[v.Workload] {
			for _, p := range w.PodSets {
				delete(replicas, v.Workload+"/"+p.Name)
			}
		}
	}
	for key, n := range replicas {
		if n == 0 {
			delete(replicas, key)
		}
	}
	noDiff(t, "- the victims, + what the steps tell", want, whole, cmpopts.EquateEmpty())
	noDiff(t, "- the victims, + what the steps tell", wantReplicas, replicas, cmpopts.EquateEmpty())
}

func TestTracesTellTheAnswer(t *testing.T) { rapid.Check(t, tracesTellTheAnswer) }

// What is recorded is bounded in a cluster of any size, and the assignment of flavors, which
// the decision itself tells, is not in it.
func TestTracesAreBounded(t *testing.T) {
	w := worlds[1]
	s := snapshotOf(t, w.State())
	for _, q := range questions(w) {
		recorder := trace.Recorder{MaxSteps: 100}
		traced(t, preemption.Config{}, s, q.request, &recorder)
		if n := len(recorder.Steps); n == 0 || n > 100 || recorder.Steps[0].Kind != trace.Asked {
			t.Errorf("%s: %d steps", q.name, n)
		}
		for _, step := range recorder.Steps {
			if len(step.Others) > 3 {
				t.Errorf("%s: %v names %d workloads", q.name, step.Kind, 1+len(step.Others))
			}
		}
	}
}

// BenchmarkTrace is what a recorder costs. That it costs nothing when there is none is seen
// in the benchmarks of Decide, and in TestDecideAllocatesItsResult.
func BenchmarkTrace(b *testing.B) {
	w := worlds[0]
	s := snapshotOf(b, w.State())
	for _, q := range questions(w) {
		b.Run("off/"+q.name, func(b *testing.B) {
			for b.Loop() {
				decide(b, s, q.request)
			}
		})
		b.Run("on/"+q.name, func(b *testing.B) {
			for b.Loop() {
				traced(b, preemption.Config{}, s, q.request, new(trace.Recorder))
			}
		})
	}
}
