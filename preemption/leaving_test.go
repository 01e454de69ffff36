package preemption_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
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
		part := edit(t, s, preemption.Remove("e", preemption.Replicas{PodSet: "main", Count: 1}), preemption.SetQueue(queue.Queue{Name: "b"}))
		if e, _ := part.Find("e"); e.PodSets[0].Count != 7 || e.PodSets[0].Terminating != 2 || len(part.Removals()) != 1 {
			t.Errorf("%s: one is gone: %+v", name, e)
		}
		if none := edit(t, s, preemption.Remove("e")); len(none.Removals()) != 0 {
			t.Errorf("%s: it is removed, and departs", name)
		}
	}
	noDiff(t, "", s.State(), again.State())
	_, err := s.With(preemption.StartEviction("e", preemption.Replicas{PodSet: "main", Count: 6}), preemption.StartEviction("e", preemption.Replicas{PodSet: "main", Count: -1}), preemption.StartEviction("e", preemption.Replicas{PodSet: "x", Count: 1}), preemption.StartEviction("x", preemption.Replicas{PodSet: "main", Count: 1}))
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

// What leaves already and is not needed is no victim, whatever the search: of a workload one replica of one
// pod set leaves, and a replica of another is enough alone.
func TestLeavingReplicaIsSpared(t *testing.T) {
	w := job("e", "a", 0, 2, started(5))
	w.PodSets = append(w.PodSets, workload.PodSet{Name: "second", Count: 2, MinCount: workload.AtLeast(1), Requests: job("e", "a", 0, 2, now).PodSets[0].Requests})
	w.PodSets[1].Requests[0].Amount = 2
	w.PodSets[0].MinCount, w.PodSets[0].Terminating = workload.AtLeast(0), 1
	st := shared(0, w)
	st.Queues[0].Quotas = gpus(6)
	for _, config := range searches {
		r := pending("a", 10, 2)
		d := decideWith(t, config, snapshotOf(t, st), r)
		if got := fmt.Sprint(d.Victims[0].Replicas); got != "[{second 1 0}]" {
			t.Errorf("%v: %v", searchOf(config), got)
		}
		verified(t, st, r, config, d)
	}
}

// Verify counts a workload of which some replicas leave already, and others yield, within the limits.
func TestVerifyCountsReplicasBesideThoseThatLeave(t *testing.T) {
	e := elastic("e", "a", 2, 0, started(1))
	e.PodSets[0].Terminating = 1
	st := shared(0, e, job("f", "a", 0, 2, started(2)))
	r := pending("a", 10, 4)
	d := decide(t, snapshotOf(t, st), r)
	if len(d.Victims) != 2 {
		t.Fatalf("%+v", d.Victims)
	}
	for n, want := range map[int64]bool{1: false, 2: true} {
		config := preemption.Config{Limits: atMost(n)}
		if err := verify.Decision(st, r, config, d); (err == nil) != want {
			t.Errorf("at most %d: %v", n, err)
		}
	}
}

// A victim that was told to leave before says so; carried out and asked again, the decision names the same
// victims, and all of them are leaving already.
func TestVictimSaysThatItIsLeavingAlready(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	gpus := func(n int64) []workload.PodSet {
		return []workload.PodSet{{Name: "main", Count: n, Requests: []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: 1}}}}
	}
	s, err := preemption.NewSnapshot(preemption.State{
		Queues: []queue.Queue{{Name: "q", Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: 4}}, Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}},
		Admitted: []workload.Workload{
			{ID: "leaves", Queue: "q", ReservedAt: now.Add(-time.Hour), Evicted: true, PodSets: gpus(2)},
			{ID: "runs", Queue: "q", ReservedAt: now.Add(-time.Hour), PodSets: gpus(2)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := preemption.Request{Workload: workload.Workload{ID: "w", Queue: "q", Priority: 1, PodSets: gpus(4)}, Now: now}
	leaving := func(s *preemption.Snapshot) (list []bool, d preemption.Decision) {
		d = must(new(preemption.Preemptor).Decide(s, r))(t)
		for _, v := range d.Victims {
			list = append(list, v.Leaving)
		}
		verified(t, s.State(), r, preemption.Config{}, d)
		return list, d
	}
	list, d := leaving(s)
	if !slices.Equal(list, []bool{true, false}) {
		t.Errorf("%v, %v", d.Outcome, list)
	}
	if s, err = s.With(d.Edits()...); err != nil {
		t.Fatal(err)
	}
	if list, d := leaving(s); !slices.Equal(list, []bool{true, true}) || d.Outcome != preemption.Preempt {
		t.Errorf("carried out: %v, %v", d.Outcome, list)
	}
}
