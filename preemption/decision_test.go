package preemption_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// all decides in every outcome, by name.
func all(t *testing.T) map[preemption.Outcome]preemption.Decision {
	t.Helper()
	q := queue.Queue{Name: "a", Quotas: gpus(4), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}
	s := snapshotOf(t, preemption.State{Queues: []queue.Queue{q}, Admitted: nil})
	full := edit(t, s, preemption.Admit(job("a/low", "a", 0, 3, started(5))), preemption.Admit(job("a/other", "a", 10, 1, started(5))))
	gated := pending("a", 10, 3)
	gated.Workload.Gates.Names = []string{"kueue.x-k8s.io/multikueue"}
	protecting := preemptorOf(preemption.Config{MinRuntime: minruntime.Defaults{Preempt: quota.Some(time.Hour)}})
	wait := must(protecting.Decide(full, pending("a", 10, 3)))(t)
	return map[preemption.Outcome]preemption.Decision{
		preemption.Fits:       decide(t, s, pending("a", 10, 3)),
		preemption.Preempt:    decide(t, full, pending("a", 10, 3)),
		preemption.Gated:      decide(t, full, gated),
		preemption.Wait:       wait,
		preemption.Impossible: decide(t, full, pending("a", 0, 3)),
	}
}

func TestOutcomePredicates(t *testing.T) {
	for outcome, want := range map[preemption.Outcome][2]bool{
		0: {}, preemption.Fits: {true, true}, preemption.Preempt: {true, true}, preemption.Gated: {false, true},
		preemption.Wait: {}, preemption.Impossible: {}, preemption.Impossible + 1: {},
	} {
		if got := [2]bool{outcome.Succeeds(), outcome.Possible()}; got != want {
			t.Errorf("%v: %v, want %v", outcome, got, want)
		}
	}
}

func TestSkip(t *testing.T) {
	q := queue.Queue{Name: "a", Quotas: gpus(4), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}
	s := snapshotOf(t, preemption.State{Queues: []queue.Queue{q}})
	s = edit(t, s, preemption.Admit(job("a/low", "a", 0, 4, started(5))))
	config := preemption.Config{MinRuntime: minruntime.Defaults{Preempt: quota.Some(time.Hour)}}
	want, err := preemptorOf(config).Decide(s, pending("a", 10, 3))
	if err != nil || want.Outcome != preemption.Wait || want.RetryAt.IsZero() || len(want.Blockers) == 0 {
		t.Fatalf("%+v, %v", want, err)
	}
	config.MaxBlockers, want.Blockers = -1, nil
	got, _ := preemptorOf(config).Decide(s, pending("a", 10, 3))
	noDiff(t, "", want, got)
	config.MaxRetrySteps, want.RetryAt = -1, time.Time{}
	got, _ = preemptorOf(config).Decide(s, pending("a", 10, 3))
	noDiff(t, "", want, got)
	if got, _ := preemptorOf(config).Decide(s, pending("a", 0, 3)); got.Outcome != preemption.Impossible || len(got.Blockers) > 0 {
		t.Errorf("%+v", got)
	}
}

// A failed edit leaves its receiver unchanged, also a nil or zero one, which is an empty
// cluster.
func TestWithReturnsReceiverOnError(t *testing.T) {
	s := snapshotOf(t, preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(4)}}})
	for _, s := range []*preemption.Snapshot{s, {}, nil} {
		next, err := s.With(preemption.Admit(job("a/w", "a", 0, 1, now)), preemption.Remove("unknown"))
		if err == nil || next != s {
			t.Errorf("%p, %v: want %p and an error", next, err, s)
		}
	}
}

// The zero preemptor, and none, decide as one of the zero configuration.
func TestZeroPreemptor(t *testing.T) {
	s := snapshotOf(t, preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(4)}}, Admitted: nil})
	s = edit(t, s, preemption.Admit(job("a/w", "a", 0, 4, started(5))))
	r := pending("a", 10, 1)
	want := decide(t, s, r)
	if len(want.Blockers) == 0 {
		t.Fatal("nobody stands in the way")
	}
	for _, p := range []*preemption.Preemptor{{}, nil} {
		got := must(p.Decide(s, r))(t)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if _, err := p.Forecast(s, r, r.Workload.PodSets[0].Requests[0]); err != nil {
			t.Error(err)
		}
	}
}

// Empty lists mean what absent ones do.
func TestEmptyIsAbsent(t *testing.T) {
	d := all(t)[preemption.Preempt]
	q := queue.Queue{Name: "a", Quotas: gpus(4), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}
	s := snapshotOf(t, preemption.State{Queues: []queue.Queue{q}})
	s = edit(t, s, preemption.Admit(job("a/low", "a", 0, 3, started(5))), preemption.Admit(job("a/other", "a", 10, 1, started(5))))
	r := pending("a", 10, 3)
	r.NeedsPreemption, r.Continue = []quota.FlavorResource{}, preemption.Assignment{}
	for _, c := range []preemption.Config{{}, {Guards: []preemption.Guard{}}, {Strategies: []preemption.FairStrategy{}}} {
		got := must(preemptorOf(c).Decide(s, r))(t)
		if diff := cmp.Diff(d, got); diff != "" {
			t.Error(diff)
		}
	}
}

// The zero snapshot is an empty cluster; nil is one too.
func TestZeroSnapshot(t *testing.T) {
	preemptor := new(preemption.Preemptor)
	for _, s := range []*preemption.Snapshot{nil, {}} {
		if st := s.State(); !cmp.Equal(st, preemption.State{}) {
			t.Errorf("state %+v", st)
		}
		_, err := preemptor.Decide(s, pending("a", 0, 1))
		wantFaults(t, err, `request.workload.queue: unknown queue "a"`)
	}
}
