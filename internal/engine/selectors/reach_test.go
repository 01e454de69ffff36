package selectors_test

import (
	"math"
	"testing"

	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// A tier accepts nobody over the bounds of priority of its selectors; the boosts decide what a base
// priority means.
func TestReachIsTight(t *testing.T) {
	upTo := func(mode rules.PriorityMode, c rules.Comparison, most quota.OptionalInt64) rules.Priority {
		return rules.Priority{Mode: mode, Comparison: c, MaxValue: most}
	}
	for _, c := range []struct {
		priority rules.Priority
		own      int64
		want     selectors.Reach
	}{
		{rules.Priority{}, 5, selectors.Reach{Any: true, Free: true, Most: math.MaxInt64}},
		{upTo("", "", quota.Some[int64](3)), 5, selectors.Reach{Any: true, Free: true, Most: 3}},
		{upTo(rules.Boosted, rules.LessThan, quota.OptionalInt64{}), 5, selectors.Reach{Any: true, Free: true, Most: 4}},
		{upTo(rules.Boosted, rules.LessThanOrEqual, quota.OptionalInt64{}), 5, selectors.Reach{Any: true, Free: true, Most: 5}},
		{upTo(rules.Boosted, rules.LessThanOrEqual, quota.Some[int64](3)), 5, selectors.Reach{Any: true, Free: true, Most: 3}},
		{upTo(rules.Boosted, rules.LessThan, quota.OptionalInt64{}), math.MinInt64, selectors.Reach{}},
		{upTo(rules.Boosted, rules.GreaterThan, quota.OptionalInt64{}), 5, selectors.Reach{Any: true, Free: true, Most: math.MaxInt64}},
		{upTo(rules.Base, rules.LessThan, quota.Some[int64](3)), 5, selectors.Reach{Any: true, Free: true, Most: math.MaxInt64}},
	} {
		r := rule("r", rules.Always, rules.CandidateSelector{Scope: rules.WithinClusterQueue, Priority: c.priority})
		e, err := selectors.New(nil, []queue.Queue{{Name: "a", Rules: "c"}}, []rules.Config{{Name: "c", Rules: []rules.Rule{r}}})
		if err != nil {
			t.Fatal(err)
		}
		tier, err := e.Tier(rules.Always, &workload.Workload{ID: "p", Queue: "a", Priority: c.own})
		if err != nil {
			t.Fatal(err)
		}
		c.want.Others, c.want.MostOthers = c.want.Any, c.want.Most // no selector asks for the preemptor's capacity
		if got, _ := tier.Reaches(func(string, []selectors.Trait) bool { return false }); got != c.want {
			t.Errorf("%+v against %d: %+v, want %+v", c.priority, c.own, got, c.want)
		}
	}
}
