package preemption_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
)

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
