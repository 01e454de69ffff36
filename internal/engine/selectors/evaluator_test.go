package selectors_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// New refuses what makes a name ambiguous, more than the largest numbers, and what queue.Validate finds;
// nothing else.
func TestNew(t *testing.T) {
	for want, err := range map[string]error{
		`queues[0].cohort: unknown cohort "gone" (queue "q")`:                            newOf([]queue.Queue{{Name: "q", Cohort: "gone"}}),
		`configs[1].name: is empty; configs[2].name: "x" is also the name of configs[0]`: newOf(nil, rules.Config{Name: "x"}, rules.Config{}, rules.Config{Name: "x"}),
		"": newOf(nil, rules.Config{Name: "x", Rules: []rules.Rule{{Name: "NO"}}}),
	} {
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func newOf(queues []queue.Queue, configs ...rules.Config) error {
	_, err := selectors.New(nil, queues, configs)
	return err
}

// A long list of values is read to its end.
func TestLongLists(t *testing.T) {
	const n = 20_000
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprint(i)
	}
	few := rules.Config{Name: "few", Rules: []rules.Rule{{Name: "r", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: []rules.CandidateSelector{
		{Scope: rules.AnyClusterQueue, LabelSelector: &workload.LabelSelector{MatchExpressions: []workload.LabelRequirement{{Key: "k", Operator: workload.In, Values: values}}}},
	}}}}
	e, err := selectors.New(nil, []queue.Queue{{Name: "q", Rules: "few"}}, []rules.Config{few})
	if err != nil {
		t.Fatal(err)
	}
	tier, err := e.Tier(rules.Always, &workload.Workload{Queue: "q"})
	for value, want := range map[string]bool{"0": true, "19999": true, "20000": false} {
		if w := (workload.Workload{Queue: "q", Labels: map[string]string{"k": value}}); err != nil || tier.Accepts(&w, selectors.Moment{}) != want {
			t.Errorf("%s: %v, %v", value, !want, err)
		}
	}
}

// A constraint holds if it is in the set, one of both strategies if one of them is; the empty one
// always holds, an unknown one never.
func TestQuotaSet(t *testing.T) {
	const reclaim, final, initial, either = rules.BorrowingCapacityFromPreemptor, rules.DRSLessThanOrEqualToFinalShare, rules.DRSLessThanInitialShare, rules.DRSAllStrategies
	for _, c := range []struct {
		set  selectors.QuotaSet
		want [5]bool // by constraint
	}{
		{0, [5]bool{}},
		{selectors.QuotaSet(0).With(reclaim), [5]bool{true, false, false, false, false}},
		{selectors.QuotaSet(0).With(final), [5]bool{false, true, false, true, false}},
		{selectors.QuotaSet(0).With(initial), [5]bool{false, false, true, true, false}},
		{selectors.QuotaSet(0).With(either), [5]bool{false, true, true, true, false}},
		{selectors.QuotaSet(0).With(rules.Borrowing), [5]bool{false, false, false, false, true}},
		{selectors.AllQuota(), [5]bool{true, true, true, true, true}},
	} {
		for i, q := range rules.QuotaConstraints() {
			if c.set.Meets(q) != c.want[i] {
				t.Errorf("%b meets %s: %t", c.set, q, !c.want[i])
			}
		}
		if !c.set.Meets("") || c.set.Meets("DRS") {
			t.Errorf("%b: the empty and an unknown constraint", c.set)
		}
	}
}

// What rules of a queue read is known before a decision.
func TestReads(t *testing.T) {
	candidates := func(q rules.QuotaConstraint) rules.Config {
		return rules.Config{Rules: []rules.Rule{{Name: "r", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: []rules.CandidateSelector{
			{Scope: rules.WithinClusterQueue}, {Scope: rules.AnyClusterQueue, Quota: q},
		}}}}
	}
	ordered := func(k rules.OrderingKey) rules.Config {
		return rules.Config{Ordering: []rules.Ordering{{Key: rules.ByPriority}, {Key: k}}}
	}
	for _, c := range []struct {
		config              rules.Config
		shares, constrained bool
	}{
		{candidates(""), false, false},
		{candidates(rules.BorrowingCapacityFromPreemptor), false, true},
		{candidates(rules.Borrowing), false, true},
		{candidates(rules.DRSLessThanInitialShare), true, true},
		{candidates(rules.DRSLessThanOrEqualToFinalShare), true, true},
		{candidates(rules.DRSAllStrategies), true, true},
		{ordered(rules.ByAdmission), false, false},
		{ordered(rules.ByQueueShare), true, false},
		{ordered(rules.ByInitialShare), true, false},
		{ordered(rules.ByFinalShare), true, false},
	} {
		c.config.Name = "c"
		e, err := selectors.New(nil, []queue.Queue{{Name: "a", Rules: "c"}, {Name: "b"}}, []rules.Config{c.config})
		if err != nil {
			t.Fatal(err)
		}
		if e.ReadsShares("a") != c.shares || e.Constrained("a") != c.constrained || e.ReadsShares("b") || e.Constrained("b") {
			t.Errorf("%+v: shares %t, constrained %t", c.config, e.ReadsShares("a"), e.Constrained("a"))
		}
		p := workload.Workload{Queue: "a"}
		if tier, err := e.Tier(rules.Always, &p); err != nil || c.constrained && !tier.AcceptsSometime(&workload.Workload{Queue: "b"}) {
			t.Error("a constraint on quota may hold at some time", err)
		}
	}
}

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
