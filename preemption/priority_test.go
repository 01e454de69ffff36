package preemption_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// All priorities, and thresholds, so much higher or lower give the same decision, to the
// ends of the range.
func shiftedPrioritiesAreNothing(t *rapid.T) {
	record := preemptiontest.Records().Draw(t, "record")
	config := preemptiontest.Configs().Draw(t, "config")
	st, r := cloneState(record.State), *record.Request
	config.Guards = nil
	want := decideWith(t, config, snapshotOf(t, st), r)
	least, most := r.Workload.EffectivePriority(), r.Workload.EffectivePriority()
	for i := range st.Admitted {
		least, most = min(least, st.Admitted[i].EffectivePriority()), max(most, st.Admitted[i].EffectivePriority())
	}
	for i := range st.Queues {
		if threshold, ok := st.Queues[i].Preemption.BorrowWithinCohort.MaxPriorityThreshold.Get(); ok {
			least, most = min(least, threshold), max(most, threshold)
		}
	}
	by := rapid.SampledFrom([]int64{math.MaxInt64 - most, math.MinInt64 - least, math.MaxInt64 - r.Workload.EffectivePriority(), math.MinInt64 - r.Workload.EffectivePriority()}).Draw(t, "by")
	if by > math.MaxInt64-most || by < math.MinInt64-least {
		return
	}
	shift := func(w *workload.Workload) { w.Priority, w.PriorityBoost = w.EffectivePriority()+by, 0 }
	for i := range st.Admitted {
		shift(&st.Admitted[i])
	}
	shift(&r.Workload)
	for i := range st.Queues {
		b := &st.Queues[i].Preemption.BorrowWithinCohort
		if threshold, ok := b.MaxPriorityThreshold.Get(); ok {
			b.MaxPriorityThreshold = queue.AtMostPriority(threshold + by)
		}
	}
	got := decideWith(t, config, snapshotOf(t, st), r)
	want.Admitted, got.Admitted = nil, nil
	noDiff(t, fmt.Sprintf("priorities higher by %d", by), want, got, sameDecision)
}

func TestShiftedPrioritiesAreNothing(t *testing.T) { rapid.Check(t, shiftedPrioritiesAreNothing) }

// Equals at the ends of the range are equals as any others.
func TestPrioritiesAtTheEnds(t *testing.T) {
	for _, priority := range []int64{math.MinInt64, math.MinInt64 + 1, 0, math.MaxInt64 - 1, math.MaxInt64} {
		r := at(0, 4)
		r.Workload.Priority = priority
		old := job("old", "a", priority, 4, started(30))
		wantText(t, text(decide(t, snapshotOf(t, shared(20*time.Minute, old)), r)), "Preempt: old InClusterQueueTimeBased", "%d", priority)
		d := decide(t, snapshotOf(t, shared(time.Hour, old)), r)
		if want := now.Add(30*time.Minute + 1); d.Outcome != preemption.Wait || !d.RetryAt.Equal(want) {
			t.Errorf("%d: %v until %v, want to wait until %v", priority, d.Outcome, d.RetryAt, want)
		}
		newer := job("newer", "a", priority, 4, started(-1))
		newer.ReservedAt = started(1)
		wantText(t, text(decide(t, snapshotOf(t, shared(0, newer)), r)), "Preempt: newer InClusterQueue", "%d", priority)
	}
}

// KEP-8303: "the preemption gate will not impact the scheduler's flavor assignment
// process". A closed gate turns Preempt into Gated, with the same victims, or into Wait, if all of them
// leave already, and changes no other answer; gates that are all open change none.
func gatesHoldBackPreemptionAlone(t *rapid.T) {
	st, r, _ := draw(t, preemption.Config{})
	s := snapshotOf(t, st)
	r.Workload.Gates = gate.Gates{}
	plain := decide(t, s, r)
	r.Workload.Gates = gate.Gates{
		Names:   []string{"a", "b"},
		States:  []gate.State{{Name: "a", Position: gate.Open, Since: preemptiontest.Now}},
		Blocked: gate.Condition{Active: true, Reason: gate.PreemptionGated, Since: preemptiontest.Now},
	}
	gated := decide(t, s, r)
	if len(gated.Edits()) > 0 && plain.Outcome != preemption.Fits {
		t.Fatalf("%v has edits", gated.Outcome)
	}
	want := plain
	cleared := func() { // of an admitted workload the signal is taken back
		if plain.Admitted != nil {
			admitted := *plain.Admitted
			admitted.Gates = r.Workload.Gates.Cleared(r.Now)
			want.Admitted = &admitted
		}
	}
	cleared()
	switch {
	case leavingAlone(plain):
		want.Outcome, want.Leaving = preemption.Wait, true
	case plain.Outcome == preemption.Preempt:
		want.Outcome = preemption.Gated
	}
	noDiff(t, "with a closed gate (-want +got)", want, gated, sameDecision)
	r.Workload.Gates = r.Workload.Gates.Opened("b", r.Now)
	want = plain
	cleared()
	noDiff(t, "with its gates open (-want +got)", want, decide(t, s, r), sameDecision)
}

func TestGatesHoldBackPreemptionAlone(t *testing.T) { rapid.Check(t, gatesHoldBackPreemptionAlone) }

// What is admitted has its signal taken back; its gates survive the snapshot.
func TestAdmissionClearsTheSignal(t *testing.T) {
	st := preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(4)}}}
	r := pending("a", 1, 4)
	r.Workload.Gates = gate.Gates{Names: []string{"x"}}.Signalled(r.Now)
	s := snapshotOf(t, st)
	s = edit(t, s, decide(t, s, r).Edits()...)
	want := gate.Gates{Names: []string{"x"}, Blocked: gate.Condition{Reason: gate.PreemptionGated, Since: r.Now}}
	noDiff(t, "", want, s.State().Admitted[0].Gates)
}
