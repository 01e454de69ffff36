package selectors_test

import (
	"testing"

	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

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
