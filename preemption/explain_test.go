package preemption_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/optional"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// The steps and what is short are of the columns asked about now, also after the flavors of a
// request were tried at later instants with other columns.
func TestExplainIsOfNow(t *testing.T) {
	s := snapshotOf(t, preemption.State{
		Cohorts: []queue.Cohort{{Name: "c", MinRuntime: minruntime.Settings{Preempt: optional.Of(10 * time.Minute)}}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "c", Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerOrNewerEqualPriority}, Quotas: []quota.Quota{
				{Flavor: "burst", Resource: "cpu", Nominal: 6}, {Flavor: "spot", Resource: "memory"}, {Flavor: "reserved", Resource: "cpu", Nominal: 4},
			}},
			{Name: "b", Cohort: "c"},
		},
		Admitted: []workload.Workload{
			{ID: "full", Queue: "a", ReservedAt: now.Add(-5 * time.Minute), PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{
				{Flavor: "burst", Resource: "cpu", Amount: 10}, {Flavor: "reserved", Resource: "cpu", Amount: 3}}}}},
			{ID: "other", Queue: "b", PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{
				{Flavor: "reserved", Resource: "cpu", Amount: 1}}}}},
		},
	})
	r := preemption.Request{Now: now, Workload: workload.Workload{ID: "p", Queue: "a", Priority: 1, PodSets: []workload.PodSet{
		{Name: "first", Count: 1, Requests: []quota.Amount{{Resource: "cpu", Amount: 1}}},
		{Name: "second", Count: 1, Requests: []quota.Amount{{Resource: "cpu", Amount: 3}, {Resource: "memory", Amount: 1}}},
	}}}
	e := explain(t, preemption.Config{}, s, r)
	if diff := cmp.Diff(decideWith(t, preemption.Config{}, s, r), e.Decision, sameDecision); diff != "" {
		t.Errorf("- Decide, + Explain:\n%s", diff)
	}
	if e.Decision.Outcome.Succeeds() || len(e.Question.Needs) == 0 {
		t.Fatalf("%v, short of %v", e.Decision.Outcome, e.Question.Needs)
	}
}
