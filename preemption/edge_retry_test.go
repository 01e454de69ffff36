package preemption_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func oneGPU(id string, priority int64) workload.Workload {
	return workload.Workload{ID: id, Queue: "q", Priority: priority, PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: 1}}}}}
}

func oneQueue(p queue.PreemptionPolicy, minimum time.Duration, runs workload.Workload) preemption.State {
	return preemption.State{Admitted: []workload.Workload{runs}, Queues: []queue.Queue{{Name: "q", Preemption: p,
		Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: 1}}, MinRuntime: minruntime.Settings{Preempt: quota.Some(minimum)}}}}
}

// "Protected until its start plus the minimum", to the nanosecond: at the next one it may
// yield.
func TestRetryAfterTheShortestMinimum(t *testing.T) {
	for _, minimum := range []time.Duration{1, 2, time.Hour} {
		runs := oneGPU("runs", 0)
		runs.ReservedAt = noon
		st := oneQueue(queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}, minimum, runs)
		want := noon.Add(minimum + 1)
		d := decide(t, snapshotOf(t, st), preemption.Request{Workload: oneGPU("waits", 1), Now: noon})
		if d.Outcome != preemption.Wait || !d.RetryAt.Equal(want) {
			t.Errorf("minimum %v: %v, retry at %v, want %v", minimum, d.Outcome, d.RetryAt, want)
		}
	}
}

// A workload without reservation counts as if it had it at the time of the decision: one
// that was created later than now takes it as soon as that is past.
func TestRetryOfOneCreatedAhead(t *testing.T) {
	p, err := preemption.New(preemption.Config{NewerByReservation: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, ahead := range []time.Duration{-1, 0, 1, time.Hour} {
		w := oneGPU("waits", 0)
		w.Created = noon.Add(ahead)
		st := oneQueue(queue.PreemptionPolicy{WithinClusterQueue: queue.LowerOrNewerEqualPriority}, 0, oneGPU("runs", 0))
		d, err := p.Decide(snapshotOf(t, st), preemption.Request{Workload: w, Now: noon})
		switch want := w.Created.Add(1); {
		case err != nil, ahead < 0 && d.Outcome != preemption.Preempt, ahead >= 0 && (d.Outcome != preemption.Wait || !d.RetryAt.Equal(want)):
			t.Errorf("created %v ahead: %v, retry at %v, %v; want %v", ahead, d.Outcome, d.RetryAt, err, want)
		}
	}
}
