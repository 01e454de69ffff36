package preemption_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// explainedHeroes explains the request of the hero in [heroes], with rules.
func explainedHeroes(t *testing.T, c preemption.Config, r preemption.Request, admitted []workload.Workload, list ...rules.Rule) explain.Explanation {
	t.Helper()
	st := heroes(admitted...)
	st.Rules = []rules.Config{{Name: "hero", Rules: list}}
	return explainWith(t, c, snapshotOf(t, st), r)
}

// Whom rules accept and what keeps them: each rule of protection is counted, and who uses nothing.
func TestExplainedTierKeeps(t *testing.T) {
	ran := func(w workload.Workload, d time.Duration) workload.Workload { w.ReservedAt = now.Add(-d); return w }
	never, evicted := onGPUs("never", "b", 1), ran(onGPUs("leaving", "b", 0), 0)
	never.NeverYields, evicted.Evicted = true, true
	evicted.NeverYields = true
	admitted := []workload.Workload{ran(onGPUs("old", "b", 1), time.Hour), ran(onGPUs("young", "b", 1), time.Minute), ran(onGPUs("own", "a", 1), time.Minute), never, evicted,
		{ID: "nothing", Queue: "b"}, ran(onGPUs("elsewhere", "c", 1), time.Minute)}
	c := preemption.Config{MinRuntime: minruntime.Defaults{Reclaim: quota.Some(10 * time.Minute)}}
	e := explainedHeroes(t, c, preemption.Request{Workload: onGPUs("hero", "a", 6), Now: now}, admitted, anybody(rules.Always))
	want := []string{
		"3 may yield: own, old, leaving",
		"accepted, but 2 have not run for their minimum runtime, set by the default, until 12:09:00: young, elsewhere",
		"accepted, but 1 uses nothing of what is short: nothing",
		"accepted, but 1 never yields: never",
		"rule any selector 0: accepts 7: elsewhere, leaving, never, nothing and 3 more",
	}
	step := e.RuleSteps()[0]
	if diff := cmp.Diff(want, step.Lines); diff != "" || step.Title != "Always: holds" {
		t.Errorf("%s - want, + got:\n%s", step.Title, diff)
	}
	e = explainedHeroes(t, preemption.Config{Guards: []preemption.Guard{nobodyYields{}}}, preemption.Request{Workload: onGPUs("hero", "a", 8), Now: now}, []workload.Workload{onGPUs("x", "b", 4)}, anybody(rules.Always))
	says(t, e, "    accepted, but 1 is kept by a guard: x\n")
}

// A selector with a constraint on quota refuses those of queues that borrow nothing, which the search never
// looks at.
func TestExplainedQuota(t *testing.T) {
	st := thirds(t, "1a=4 2b=3 3c=5")
	st.Rules = []rules.Config{{Name: "hero", Rules: []rules.Rule{{Name: "borrowers", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: constrained(rules.Borrowing)}}}}
	e := explainWith(t, preemption.Config{Compat: preemption.Compat{RulesAlone: true}}, snapshotOf(t, st), preemption.Request{Workload: onGPUs("hero", "a", 4), Now: now})
	says(t, e, "    rule borrowers selector 0: accepts 1: 3c; quota refuses 2: 1a, 2b\n")
}

// Rules that were not looked at have no tiers: the request fits, the policies suffice, or nothing does.
// A tier after one that suffices, and one with another trigger, does not hold; after a bad selector
// there are no more tiers.
func TestExplainedTriggers(t *testing.T) {
	wants := func(amount int64) preemption.Request {
		return preemption.Request{Workload: onGPUs("hero", "a", amount), Now: now}
	}
	bad := anybody(rules.Always)
	bad.CandidateSelectors[0].Scope = "Nowhere"
	patient := anybody(rules.InsufficientQuota)
	patient.ActivationPolicy.MinTriggerRequiredDuration = quota.Some(time.Hour)
	waits := wants(8)
	waits.TriggersSince = []rules.Observation{{Trigger: rules.InsufficientQuota, Since: now.Add(-time.Minute)}}
	others := anybody(rules.Always)
	others.PreemptorSelector = &workload.LabelSelector{MatchLabels: map[string]string{"not": "there"}}
	three := []rules.Rule{anybody(rules.Always), anybody(rules.InsufficientQuota), anybody(rules.QuotaFeasibleAndInsufficientTopology)}
	x := []workload.Workload{onGPUs("x", "b", 4)}
	everyScope := `"WithinLocalQueue" "WithinClusterQueue" "WithinParentCohort" "WithinCohortTree" "AnyClusterQueue" ` +
		`"OtherInParentCohort" "OtherInCohortTree" "OtherClusterQueue"`
	for name, c := range map[string]struct {
		asks  preemption.Request
		rules []rules.Rule
		want  []string
	}{
		"it fits":          {wants(4), three, []string{"not looked at: no workload has to yield"}},
		"nothing suffices": {wants(9), three, []string{"not looked at: no workload that yields can help"}},
		"the first": {wants(8), three, []string{"Always: holds", "1 may yield: x", "rule any selector 0: accepts 1: x",
			"InsufficientQuota: not looked at: those before suffice", "QuotaFeasibleAndInsufficientTopology: not looked at: those before suffice"}},
		"the second": {wants(8), append([]rules.Rule{others}, three[1:]...), []string{"Always: holds", "rule any is not for this workload",
			"InsufficientQuota: holds", "1 may yield: x", "rule any selector 0: accepts 1: x", "QuotaFeasibleAndInsufficientTopology: not looked at: those before suffice"}},
		"none for places": {wants(8), three[2:], []string{"QuotaFeasibleAndInsufficientTopology: does not hold: the quota does not suffice"}},
		"a bad selector": {wants(8), append([]rules.Rule{bad}, three[1:]...), []string{"Always: holds", "none, because a selector is bad; later tiers are not looked at",
			`config "hero": rules[0].candidateSelectors[0].scope: "Nowhere" is none of [` + everyScope + `]`}},
		"waits for trigger": {waits, []rules.Rule{patient}, []string{"InsufficientQuota: holds, since 11:59:00",
			"rule any selector 0: minTriggerRequiredDuration refuses 1, until 12:59:00.000000001: x"}},
	} {
		e := explainedHeroes(t, preemption.Config{}, c.asks, x, c.rules...)
		var got []string
		for _, step := range e.RuleSteps() {
			if step.Title != "" {
				got = append(got, step.Title)
			}
			got = append(got, step.Lines...)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: - want, + got:\n%s", name, diff)
		}
	}
	st := heroes(onGPUs("x", "b", 4))
	st.Queues[0].Rules = ""
	if e := explainWith(t, preemption.Config{}, snapshotOf(t, st), wants(8)); e.RuleSteps() != nil {
		t.Errorf("without rules: %+v", e.RuleSteps())
	}
	st = heroes(onGPUs("x", "a", 4))
	st.Queues[0].Preemption.WithinClusterQueue = queue.LowerPriority
	st.Rules = []rules.Config{{Name: "hero", Rules: three}}
	higher := wants(8)
	higher.Workload.Priority = 1
	says(t, explainWith(t, preemption.Config{}, snapshotOf(t, st), higher), "  not looked at: the policies suffice\n")
}
