package preemption_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
)

// Replicas that were told to stop hold their quota until they are gone, as whole victims
// do. They are taken before others, and are no surplus any more.
func TestStartShrink(t *testing.T) {
	st := preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(12), Preemption: reclaims}}}
	st.Admitted = append(st.Admitted, elastic("e", "a", 8, 2, started(5)), job("whole", "a", 0, 4, started(9)))
	s := snapshotOf(t, st)
	d := decide(t, s, pending("a", 10, 3))
	if got := replicas(d); len(got) != 1 || got["e"] != 3 {
		t.Fatalf("%v, want three replicas of e", got)
	}
	usage := func(s *preemption.Snapshot) int64 {
		rows, _ := s.QueueStatus("a")
		return rows[0].Usage
	}
	s = edit(t, s, d.Edits()...)
	e, _ := s.Find("e")
	if p := e.PodSets[0]; usage(s) != 12 || p.Count != 8 || p.Terminating != 3 || p.Surplus() != 3 {
		t.Errorf("%d are used; %+v", usage(s), p)
	}
	if d = decide(t, s, pending("a", 10, 3)); len(d.Edits()) != 0 {
		t.Errorf("%v, want the three that are leaving", d.Victims)
	}
	d = decide(t, s, pending("a", 10, 6))
	if got := d.Victims; len(got) != 1 || !slices.Equal(got[0].Replicas, []preemption.Replicas{{PodSet: "main", Count: 6, Leaving: 3}}) {
		t.Errorf("%v, want those that are leaving and the surplus that is left", got)
	}
	d = decide(t, edit(t, s, d.Edits()...), pending("a", 10, 7))
	if got := replicas(d); len(got) != 1 || got["e"] != 0 {
		t.Errorf("%v, but e has no surplus any more", got)
	}
	again := snapshotOf(t, s.State())
	for name, s := range map[string]*preemption.Snapshot{"edited": s, "made of the state": again} {
		gone := edit(t, s, s.Removals()...)
		if e, _ := gone.Find("e"); usage(gone) != 9 || e.PodSets[0].Count != 5 || e.PodSets[0].Terminating != 0 || len(gone.Removals()) != 0 {
			t.Errorf("%s: with them gone %d are used; %+v", name, usage(gone), e)
		}
		evicted := edit(t, s, preemption.StartEviction("e"), preemption.StartEviction("whole"))
		if gone := edit(t, evicted, evicted.Removals()...); usage(gone) != 0 {
			t.Errorf("%s: told to stop as a whole, %d stay", name, usage(gone))
		}
		part := edit(t, s, preemption.Shrink("e", "main", 1), preemption.SetQueue(queue.Queue{Name: "b"}))
		if e, _ := part.Find("e"); e.PodSets[0].Count != 7 || e.PodSets[0].Terminating != 2 || len(part.Removals()) != 1 {
			t.Errorf("%s: one is gone: %+v", name, e)
		}
		if none := edit(t, s, preemption.Remove("e")); len(none.Removals()) != 0 {
			t.Errorf("%s: it is removed, and departs", name)
		}
	}
	if diff := cmp.Diff(s.State(), again.State()); diff != "" {
		t.Error(diff)
	}
	_, err := s.With(preemption.StartShrink("e", "main", 6), preemption.StartShrink("e", "main", -1), preemption.StartShrink("e", "x", 1), preemption.StartShrink("x", "main", 1))
	wantFaults(t, err, `edits[0]: 6 of 5 replicas of pod set "main"`, `edits[1]: -1 of 5 replicas of pod set "main"`, `edits[2]: workload "e" has no pod set "x"`, `edits[3]: no workload "x" is admitted`)
	bad := s.State()
	bad.Admitted[0].PodSets[0].Terminating = 9
	bad.Admitted[1].PodSets[0].Terminating = -1
	_, err = preemption.NewSnapshot(bad)
	wantFaults(t, err, `admitted[0].podSets[0].leaving: 9 of 8 replicas`, `admitted[1].podSets[0].leaving: -1 of `)
	r := pending("a", 10, 3)
	r.Workload.PodSets[0].Terminating = 1
	_, err = preemptorOf(preemption.Config{}).Decide(s, r)
	wantFaults(t, err, `request.workload.podSets[0].leaving: 1 of a workload that waits`)
}
