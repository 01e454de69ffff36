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
	c := preemption.Config{MinRuntime: minruntime.Settings{Reclaim: quota.Some(10 * time.Minute)}}
	e := explainedHeroes(t, c, preemption.Request{Workload: onGPUs("hero", "a", 6), Now: now}, admitted, anybody(rules.Always))
	until := now.Add(9 * time.Minute)
	want := explain.ExplainedTier{
		Trigger: rules.Always, Holds: true, Since: now, MayYield: explain.Counted{Count: 3, Samples: []string{"own", "old", "leaving"}},
		Kept: []explain.Kept[preemption.Rule]{
			{Rule: preemption.RuleMinRuntime, SetBy: "default", Counted: explain.Counted{Count: 2, Samples: []string{"young", "elsewhere"}}, From: until, Until: until},
			{Counted: explain.Counted{Count: 1, Samples: []string{"nothing"}}},
			{Rule: preemption.RuleNeverYields, Counted: explain.Counted{Count: 1, Samples: []string{"never"}}},
		},
		Rules: []explain.ExplainedRule{{Rule: "any", Selectors: []explain.ExplainedSelector{{Accepts: explain.Counted{Count: 7, Samples: []string{"elsewhere", "leaving", "never", "nothing"}}}}}},
	}
	if len(e.Rules.Tiers) != 1 {
		t.Fatalf("%+v", e.Rules)
	}
	if diff := cmp.Diff(want, e.Rules.Tiers[0]); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
	e = explainedHeroes(t, preemption.Config{Guards: []preemption.Guard{nobodyYields{}}}, preemption.Request{Workload: onGPUs("hero", "a", 8), Now: now}, []workload.Workload{onGPUs("x", "b", 4)}, anybody(rules.Always))
	if kept := e.Rules.Tiers[0].Kept; len(kept) != 1 || kept[0].Rule != preemption.RuleGuarded || kept[0].Count != 1 {
		t.Errorf("guarded: %+v", kept)
	}
}

// A selector with a constraint on quota refuses those of queues that borrow nothing, which the search never
// looks at.
func TestExplainedQuota(t *testing.T) {
	st := thirds(t, "1a=4 2b=3 3c=5")
	st.Rules = []rules.Config{{Name: "hero", Rules: []rules.Rule{{Name: "borrowers", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: constrained(rules.Borrowing)}}}}
	e := explainWith(t, preemption.Config{RulesAlone: true}, snapshotOf(t, st), preemption.Request{Workload: onGPUs("hero", "a", 4), Now: now})
	want := explain.ExplainedSelector{Accepts: explain.Counted{Count: 1, Samples: []string{"3c"}}, Refuses: []explain.ExplainedRefusal{
		{Part: rules.PartQuota, Counted: explain.Counted{Count: 2, Samples: []string{"1a", "2b"}}},
	}}
	if diff := cmp.Diff(want, e.Rules.Tiers[0].Rules[0].Selectors[0]); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
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
	type tier struct {
		Trigger      rules.Trigger
		Holds        bool
		May, Refused int64
		From         time.Time
		Others       bool
		Faults       int
	}
	x := []workload.Workload{onGPUs("x", "b", 4)}
	for name, c := range map[string]struct {
		asks  preemption.Request
		rules []rules.Rule
		want  []tier
	}{
		"it fits":           {wants(4), three, nil},
		"nothing suffices":  {wants(9), three, nil},
		"the first":         {wants(8), three, []tier{{rules.Always, true, 1, 0, time.Time{}, false, 0}, {Trigger: rules.InsufficientQuota}, {Trigger: rules.QuotaFeasibleAndInsufficientTopology}}},
		"the second":        {wants(8), append([]rules.Rule{others}, three[1:]...), []tier{{Trigger: rules.Always, Holds: true, Others: true}, {Trigger: rules.InsufficientQuota, Holds: true, May: 1}, {Trigger: rules.QuotaFeasibleAndInsufficientTopology}}},
		"none for places":   {wants(8), three[2:], []tier{{Trigger: rules.QuotaFeasibleAndInsufficientTopology}}},
		"a bad selector":    {wants(8), append([]rules.Rule{bad}, three[1:]...), []tier{{Trigger: rules.Always, Holds: true, Faults: 1}}},
		"waits for trigger": {waits, []rules.Rule{patient}, []tier{{rules.InsufficientQuota, true, 0, 1, now.Add(59*time.Minute + 1), false, 0}}},
	} {
		e := explainedHeroes(t, preemption.Config{}, c.asks, x, c.rules...)
		var got []tier
		for _, of := range e.Rules.Tiers {
			one := tier{Trigger: of.Trigger, Holds: of.Holds, May: of.MayYield.Count, Faults: len(of.Faults)}
			for _, r := range of.Rules {
				one.Others = one.Others || r.OfOthers
				for _, s := range r.Selectors {
					for _, refusal := range s.Refuses {
						one.Refused, one.From = one.Refused+refusal.Count, refusal.From
					}
				}
			}
			got = append(got, one)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: - want, + got:\n%s", name, diff)
		}
	}
	st := heroes(onGPUs("x", "b", 4))
	st.Queues[0].Rules = ""
	if e := explainWith(t, preemption.Config{}, snapshotOf(t, st), wants(8)); e.Rules != nil {
		t.Errorf("without rules: %+v", e.Rules)
	}
	st = heroes(onGPUs("x", "a", 4))
	st.Queues[0].Preemption.WithinClusterQueue = queue.LowerPriority
	st.Rules = []rules.Config{{Name: "hero", Rules: three}}
	higher := wants(8)
	higher.Workload.Priority = 1
	if e := explainWith(t, preemption.Config{}, snapshotOf(t, st), higher); e.Decision.Outcome != preemption.Preempt || len(e.Rules.Tiers) != 0 {
		t.Errorf("the policies suffice: %v, %+v", e.Decision.Outcome, e.Rules)
	}
}
