package preemption_test

import (
	"slices"
	"testing"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// A workload that the rules accept is kept by something else, which the blocker names; of one that no rule accepts the blocker says
// which policy refuses it.
func TestBlockersOfRules(t *testing.T) {
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	none := []quota.Quota{{Flavor: "f", Resource: "core"}}
	runs := func(id, queueName string, amount int64, since time.Duration) workload.Workload {
		return workload.Workload{ID: id, Queue: queueName, ReservedAt: now.Add(-since),
			PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "core", Amount: amount}}}}}
	}
	never := runs("never", "fixed", 5, time.Hour)
	never.NeverYields = true
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "cluster", Quotas: []quota.Quota{{Flavor: "f", Resource: "core", Nominal: 100}}}},
		Queues: []queue.Queue{
			{Name: "high", Cohort: "cluster", Quotas: none, Rules: "high-rules"}, {Name: "normal", Cohort: "cluster", Quotas: none},
			{Name: "fixed", Cohort: "cluster", Quotas: none, Labels: map[string]string{"qos": "low"}},
			{Name: "scavenger", Cohort: "cluster", Quotas: none, Labels: map[string]string{"qos": "low"}, MinRuntime: minruntime.Settings{Reclaim: quota.Some(time.Hour)}},
		},
		Rules: []rules.Config{{Name: "high-rules", Rules: []rules.Rule{{Name: "low-yields", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always},
			CandidateSelectors: []rules.CandidateSelector{{Scope: rules.WithinCohortTree, ClusterQueueSelector: &workload.LabelSelector{MatchLabels: map[string]string{"qos": "low"}}}}}}}},
		Admitted: []workload.Workload{runs("n1", "normal", 40, 4*time.Hour), runs("old", "scavenger", 35, 2*time.Hour), runs("new", "scavenger", 20, 20*time.Minute), never},
	}
	w := runs("wants", "high", 45, 0)
	w.ReservedAt, w.Queued = time.Time{}, now
	r := preemption.Request{Workload: w, Now: now}
	s := snapshotOf(t, st)
	d := decideWith(t, preemption.Config{}, s, r)
	want := []preemption.Blocker{
		{Rule: preemption.RuleNeverYields, Queue: "fixed", Workload: "never"},
		{Rule: preemption.RuleReclaimWithinCohort, Queue: "normal", Workload: "n1"},
		{Rule: preemption.RuleMinRuntime, Queue: "scavenger", Workload: "new", Until: now.Add(40 * time.Minute), SetBy: `queue "scavenger"`},
	}
	if d.Outcome != preemption.Wait || !slices.Equal(d.Blockers, want) {
		t.Fatalf("%v: %+v", d.Outcome, d.Blockers)
	}
	for i, text := range []string{"it is not preemptible", "reclaimWithinCohort is Never; and what the rules of high-rules accept is not enough",
		`its minimum runtime against reclaims, set by queue "scavenger", is not over, until 12:40:00`} {
		if got := explain.Blocker(s, &r, d.Blockers[i]); got != text {
			t.Errorf("%q, want %q", got, text)
		}
	}
}
