package selectors_test

import (
	"strings"
	"testing"

	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

func rule(name string, trigger rules.Trigger, selectors ...rules.CandidateSelector) rules.Rule {
	return rules.Rule{Name: name, ActivationPolicy: rules.ActivationPolicy{Trigger: trigger}, CandidateSelectors: selectors}
}

func evaluator(t *testing.T, list ...rules.Rule) *selectors.Evaluator {
	t.Helper()
	e, err := selectors.New(nil, []queue.Queue{{Name: "q", Rules: "c"}, {Name: "other"}}, []rules.Config{{Name: "c", Rules: list}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var (
	anybody = rules.CandidateSelector{Scope: rules.AnyClusterQueue}
	bad     = rules.CandidateSelector{Scope: "bad"}
	waiting = &workload.Workload{ID: "p", Queue: "q"}
)

// "One bad selector (of preemptor or candidate) of a rule that is looked at: no candidate of
// this tier. A rule whose preemptor selector does not match is passed over before its candidate
// selectors are looked at." (Kueue's tables of the evaluator)
func TestBadSelectors(t *testing.T) {
	passedOver := rule("passed-over", rules.Always, bad)
	passedOver.PreemptorSelector = &workload.LabelSelector{MatchLabels: map[string]string{"not": "there"}}
	badPreemptor := rule("bad-preemptor", rules.InsufficientQuota, bad)
	badPreemptor.PreemptorSelector = &workload.LabelSelector{MatchExpressions: []workload.LabelRequirement{{Key: "k"}}}
	e := evaluator(t, rule("good", rules.Always, anybody), passedOver, badPreemptor, rule("also-good", rules.InsufficientQuota, anybody),
		rule("two", rules.QuotaFeasibleAndInsufficientTopology, bad, anybody, bad))
	if tier, err := e.Tier(rules.Always, waiting); err != nil || len(tier.Select(&workload.Workload{ID: "c", Queue: "other"}, selectors.Moment{})) != 1 {
		t.Error(err)
	}
	for trigger, want := range map[rules.Trigger][]string{
		rules.InsufficientQuota:                    {`config "c": rules[2].preemptorSelector.matchExpressions[0].operator: `},
		rules.QuotaFeasibleAndInsufficientTopology: {"rules[4].candidateSelectors[0].scope: ", "rules[4].candidateSelectors[2].scope: "},
	} {
		tier, err := e.Tier(trigger, waiting)
		if err == nil || tier != nil {
			t.Fatalf("%v: no error", trigger)
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v: %v", trigger, err)
			}
		}
	}
}

func TestUnknownQueues(t *testing.T) {
	e := evaluator(t, rule("all", rules.Always, anybody))
	if _, err := e.Tier(rules.Always, &workload.Workload{Queue: "gone"}); err == nil || err.Error() != `preemptor.queue: "gone" is unknown` {
		t.Error(err)
	}
	if _, err := (*selectors.Evaluator)(nil).Tier(rules.Always, waiting); err == nil {
		t.Error("nil knows a queue")
	}
	tier, err := e.Tier(rules.Always, waiting)
	if err != nil || tier.Select(&workload.Workload{Queue: "gone"}, selectors.Moment{}) != nil {
		t.Error(err, "a candidate in an unknown queue is accepted")
	}
	if new(selectors.Tier).Select(waiting, selectors.Moment{}) != nil {
		t.Error("the zero tier accepts somebody")
	}
}
