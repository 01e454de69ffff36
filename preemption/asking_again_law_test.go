package preemption_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Leaving is leaving: a request that is asked again, when its victims were told to stop and are
// still there, takes nothing that was not told to stop.
func askingAgainTakesNoMore(t *rapid.T, config preemption.Config) {
	rec := preemptiontest.Records().Draw(t, "record")
	takesNoMore(t, config, rec.State, *rec.Request, decideWith(t, config, snapshotOf(t, rec.State), *rec.Request))
}

func takesNoMore(t *rapid.T, config preemption.Config, st preemption.State, r preemption.Request, d preemption.Decision) {
	if d.Outcome != preemption.Preempt {
		return
	}
	again := decideWith(t, config, edit(t, snapshotOf(t, st), d.Edits()...), r)
	if again.Outcome != preemption.Preempt {
		t.Fatalf("%v, asked again %v", d.Victims, again.Outcome)
	}
	if !leavingAlone(again) {
		t.Fatalf("%v, asked again %v: not all were told to stop", d.Victims, again.Victims)
	}
	if edits := again.Edits(); len(edits) > 0 {
		t.Fatalf("%v, asked again %v: %d edits more", d.Victims, again.Victims, len(edits))
	}
}

// leavingAlone reports whether all victims were told to stop before.
func leavingAlone(d preemption.Decision) bool {
	return len(d.Victims) > 0 && !slices.ContainsFunc(d.Victims, func(v preemption.Victim) bool { return !v.Leaving })
}

// KAI: "elastic workloads can always be partially preempted". Of 4 replicas, 2 of them surplus,
// the request takes 2; asked again, it takes the same two, whatever the minimum runtime of the
// workload is.
func TestSurplusAskedAgain(t *testing.T) {
	for _, minimum := range []time.Duration{0, time.Hour} {
		st := preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(4), Preemption: reclaims, MinRuntime: minruntime.Settings{Preempt: quota.Some(minimum)}}}}
		st.Admitted = append(st.Admitted, elastic("e", "a", 4, 2, started(5)))
		s := snapshotOf(t, st)
		r := pending("a", 10, 2)
		for n := range 3 {
			d := decide(t, s, r)
			if d.Outcome != preemption.Preempt || len(d.Victims) != 1 || replicas(d)["e"] != 2 {
				t.Fatalf("minimum %v, asked %d times: %v %v, want two replicas of e", minimum, n+1, d.Outcome, d.Victims)
			}
			if err := verify.Decision(s.State(), r, preemption.Config{}, d); err != nil {
				t.Fatal(err)
			}
			s = edit(t, s, d.Edits()...)
			if e, _ := s.Find("e"); e.PodSets[0].Terminating != 2 || e.Evicted {
				t.Fatalf("asked %d times: %+v leave", n+1, e)
			}
		}
		gone := edit(t, s, s.Removals()...)
		if d := decide(t, gone, r); d.Outcome != preemption.Fits {
			t.Errorf("with the two gone: %v", d.Outcome)
		}
	}
}
