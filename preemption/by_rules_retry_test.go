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

// "RulesAlone: rules decide in place of the policies": neither do the policies say when, whatever the search.
func TestRetryAtByRulesAlone(t *testing.T) {
	record := readJSON[preemption.Record](t, "rules-alone-best.json")
	for _, config := range searches {
		config.Compat.RulesAlone = true
		d := decideWith(t, config, snapshotOf(t, record.State), *record.Request)
		if d.Outcome != preemption.Impossible {
			t.Errorf("%v: %v at %v, but no rule ever permits anybody", searchOf(config), d.Outcome, d.RetryAt)
		}
		verified(t, record.State, *record.Request, config, d)
	}
}

// A tier that is bad hides later ones only while its trigger holds: where the quota suffices, a rule
// for places has its own times.
func TestRetryAtPastABadTier(t *testing.T) {
	x := onGPUs("x", "c", 4)
	x.ReservedAt = now
	bad, later := anybody(rules.InsufficientQuota), anybody(rules.QuotaFeasibleAndInsufficientTopology)
	bad.Name, bad.CandidateSelectors[0].Scope = "bad", "Everywhere"
	later.CandidateSelectors[0].Time.MinExecutionDuration = quota.Some(time.Hour)
	r := preemption.Request{Workload: onGPUs("new", "a", 2), Now: now, Room: &space{map[string]int{"x": 1}, 1, map[string]bool{}}}
	d, err := byRules(t, preemption.Config{}, heroes(x), r, bad, later)
	if want := now.Add(time.Hour + 1); d.Outcome != preemption.Wait || !d.RetryAt.Equal(want) || len(d.RuleFaults) > 0 || err != nil {
		t.Errorf("%v until %v, %v, %v; want %v", d.Outcome, d.RetryAt, d.RuleFaults, err, want)
	}
}

// A trigger that begins to hold at a later instant has been observed from then on.
func TestRetryAtOfATriggerThatBeginsLater(t *testing.T) {
	x := onGPUs("x", "b", 8)
	x.ReservedAt = now
	old, patient := anybody(rules.Always), anybody(rules.QuotaFeasibleAndInsufficientTopology)
	old.Name, old.CandidateSelectors[0].Scope, old.CandidateSelectors[0].Time.MinExecutionDuration = "old", rules.OtherInCohortTree, quota.Some(time.Hour)
	patient.Name, patient.ActivationPolicy.MinTriggerRequiredDuration = "patient", quota.Some(10*time.Minute)
	r := preemption.Request{Workload: onGPUs("new", "a", 4), Now: now, Room: &space{map[string]int{"y": 1}, 1, map[string]bool{}}}
	d, err := byRules(t, preemption.Config{}, heroes(x, onGPUs("y", "c", 4)), r, old, patient)
	if want := now.Add(time.Hour + 1 + 10*time.Minute + 1); d.Outcome != preemption.Wait || !d.RetryAt.Equal(want) || err != nil {
		t.Errorf("%v until %v, %v; want %v", d.Outcome, d.RetryAt, err, want)
	}
}

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
