package preemption_test

import (
	"slices"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

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
		d, err := new(preemption.Preemptor).Decide(s, r)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range d.Victims {
			list = append(list, v.Leaving)
		}
		if err := verify.Decision(s.State(), r, preemption.Config{}, d); err != nil {
			t.Error(err)
		}
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
