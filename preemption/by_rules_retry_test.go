package preemption_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
)

// "RulesAlone: rules decide in place of the policies": neither do the policies say when, whatever the search.
func TestRetryAtByRulesAlone(t *testing.T) {
	record := readJSON[preemption.Record](t, "rules-alone-exact.json")
	for _, config := range searches {
		config.Compat.RulesAlone = true
		d := decideWith(t, config, snapshotOf(t, record.State), *record.Request)
		if d.Outcome != preemption.Impossible {
			t.Errorf("%v: %v at %v, but no rule ever permits anybody", searchOf(config), d.Outcome, d.RetryAt)
		}
		if err := verify.Decision(record.State, *record.Request, config, d); err != nil {
			t.Errorf("%v: %v", searchOf(config), err)
		}
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
