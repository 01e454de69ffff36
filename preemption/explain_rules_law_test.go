package preemption_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// An explanation with rules has the decision that Decide makes. Its tiers that hold are those of the
// decision; each selector that serves the preemptor counts each running workload once, and accepts
// whom the evaluator accepts. Those that may yield are accepted, victims by rules were among them, and
// the candidates that rules took name the rules that the victims name.
func explanationsOfRulesHold(t *rapid.T, reached map[string]int) {
	record := preemptiontest.Records().Draw(t, "record")
	st, r := record.State, *record.Request
	config := preemptiontest.Configs().Draw(t, "config")
	r.Room = drawRoom(t, st)
	st.Rules = []rules.Config{drawRules(t, &st, &r.Workload)}
	config.RulesAlone = rapid.IntRange(0, 3).Draw(t, "rules instead") == 0
	s := snapshotOf(t, st)
	e := explainWith(t, config, s, r)
	d := decideWith(t, config, s, r)
	if diff := cmp.Diff(d, e.Decision, sameDecision); diff != "" {
		t.Fatalf("- Decide, + Explain:\n%s", diff)
	}
	if e.Rules == nil || e.Rules.Config != "rules" || e.Rules.Alone != config.RulesAlone || len(e.Rules.Tiers) > 0 && len(d.Triggers) == 0 {
		t.Fatalf("%+v", e.Rules)
	}
	evaluator, err := selectors.New(st.Cohorts, st.Queues, st.Rules)
	if err != nil {
		t.Fatal(err)
	}
	bad := false
	for i := range e.Rules.Tiers {
		tier := &e.Rules.Tiers[i]
		if tier.Holds != slices.Contains(d.Triggers, tier.Trigger) || bad {
			t.Fatalf("%v of %v: %+v", d.Triggers, d.Outcome, tier)
		}
		of, err := evaluator.Tier(tier.Trigger, &r.Workload)
		switch {
		case !tier.Holds:
			reached["does not hold"]++
			continue
		case err != nil:
			if bad = true; len(tier.Faults) == 0 || tier.MayYield.Count+int64(len(tier.Kept)+len(tier.Rules)) > 0 {
				t.Fatalf("%v: %+v", err, tier)
			}
			reached["bad"]++
			continue
		}
		tierHolds(t, st, r, tier, of, reached)
	}
	victimsAreExplained(t, &e, evaluator.Constrained(r.Workload.Queue), reached)
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var read explain.Explanation
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(read); err != nil || string(again) != string(data) {
		t.Fatalf("%v: through JSON\n%s\nis\n%s", err, data, again)
	}
}

func tierHolds(t *rapid.T, st preemption.State, r preemption.Request, tier *explain.ExplainedTier, of *selectors.Tier, reached map[string]int) {
	accepted, least := map[rules.Match]int64{}, map[rules.Match]int64{} // whatever holds of quota, and though nothing does
	anyOf := int64(0)
	others := func(yield func(*workload.Workload)) {
		for i := range st.Admitted {
			if st.Admitted[i].ID != r.Workload.ID {
				yield(&st.Admitted[i])
			}
		}
	}
	running := int64(0)
	others(func(w *workload.Workload) {
		running++
		moment := selectors.Moment{Now: r.Now, Since: tier.Since}
		for _, m := range of.Select(w, moment) {
			least[m]++
		}
		moment.Quota = selectors.AllQuota()
		matches := of.Select(w, moment)
		for _, m := range matches {
			accepted[m]++
		}
		if len(matches) > 0 {
			anyOf++
		}
	})
	at := 0
	for i, rule := range st.Rules[0].Rules {
		if rule.ActivationPolicy.Trigger != tier.Trigger {
			continue
		}
		out := tier.Rules[at]
		at++
		if out.Rule != rule.Name || out.OfOthers || len(out.Selectors) != len(rule.CandidateSelectors) {
			t.Fatalf("%+v of rule %+v", out, rule)
		}
		for j, s := range out.Selectors {
			sum := s.Accepts.Count
			for k, refusal := range s.Refuses {
				if sum += refusal.Count; refusal.Count == 0 || k > 0 && slices.Index(rules.Parts(), refusal.Part) <= slices.Index(rules.Parts(), s.Refuses[k-1].Part) {
					t.Fatalf("%+v", s)
				}
				if !refusal.From.IsZero() {
					reached["from"]++
				}
				reached[string(refusal.Part)]++
			}
			m := rules.Match{Rule: i, Selector: j}
			if sum != running || s.Accepts.Count > accepted[m] || s.Accepts.Count < least[m] {
				t.Fatalf("selector %d of %s accepts %d to %d of %d: %+v", j, rule.Name, least[m], accepted[m], running, s)
			}
		}
	}
	kept := tier.MayYield.Count
	for _, k := range tier.Kept {
		kept += k.Count
		reached["kept"]++
		if k.Rule == 0 {
			reached["uses nothing"]++
		}
	}
	if at != len(tier.Rules) || kept > anyOf {
		t.Fatalf("%d of %d accepted workloads: %+v", kept, anyOf, tier)
	}
	if tier.MayYield.Count > 0 {
		reached["may yield"]++
	}
}

// victimsAreExplained: a victim by rules was taken by the rules that it names, in the last attempt, and
// was among those that may yield, unless constraints on quota began to hold for it later.
func victimsAreExplained(t *rapid.T, e *explain.Explanation, constrained bool, reached map[string]int) {
	if len(e.Attempts) == 0 || len(e.Decision.Counts) > 0 || e.Improved != nil {
		return
	}
	last := &e.Attempts[len(e.Attempts)-1]
	for i := range e.Rules.Tiers {
		tier, count := &e.Rules.Tiers[i], int64(0)
		for _, v := range e.Decision.Victims {
			if len(v.Rules) > 0 && v.Rules[0].Trigger == tier.Trigger {
				count++
			}
		}
		if count > tier.MayYield.Count && !constrained {
			t.Fatalf("%d victims: %+v", count, tier)
		}
	}
	for _, v := range e.Decision.Victims {
		whole := len(v.Replicas) == 0 // else rules took only what leaves of it
		i := slices.IndexFunc(last.Taken, func(s explain.TakenStep) bool {
			return s.Workload == v.Workload && (s.PodSet == "") == whole && s.Leaving == (v.Leaving || !whole)
		})
		if len(v.Rules) == 0 || i < 0 {
			continue
		}
		reached["victim"]++
		if diff := cmp.Diff(v.Rules, last.Taken[i].Rules); diff != "" || !last.ByRules {
			t.Fatalf("%s: - victim, + taken:\n%s", v.Workload, diff)
		}
	}
	for _, a := range e.Attempts {
		for _, s := range a.Taken {
			if len(s.Rules) > 0 && !a.ByRules {
				t.Fatalf("%s was taken by %v in an attempt by policies", s.Workload, s.Rules)
			}
		}
	}
}

func TestExplanationsOfRulesHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { explanationsOfRulesHold(t, map[string]int{}) })
}

// The law means something: drawn states, always the same, reach what it is about.
func TestExplanationsOfRulesReach(t *testing.T) {
	reached := map[string]int{}
	drawn := rapid.Custom(func(t *rapid.T) int { explanationsOfRulesHold(t, reached); return 0 })
	for seed := range 400 {
		drawn.Example(seed)
	}
	for _, what := range []string{"does not hold", "bad", "from", "scope", "labelSelector", "priority", "numericLabels", "time", "minTriggerRequiredDuration", "quota", "may yield", "kept", "uses nothing", "victim"} {
		if reached[what] < 3 {
			t.Errorf("%s: %d times", what, reached[what])
		}
	}
}
