package lint

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Rules that accept two workloads for each other are found, with the two; also two of one kind, and a rule
// against a policy. Comparisons that hold one way only are no finding.
func TestMutualRules(t *testing.T) {
	selects := func(s rules.CandidateSelector) []rules.Config {
		return []rules.Config{{Name: "c", Rules: []rules.Rule{{Name: "r", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: []rules.CandidateSelector{s}}}}}
	}
	lower := rules.Priority{Mode: rules.Boosted, Comparison: rules.LessThan}
	higher := rules.Priority{Mode: rules.Boosted, Comparison: rules.GreaterThan}
	const each = `rule "r" selector 0 of "c" and rule "r" selector 0 of "c" accept two workloads for each other, whatever times, triggers and quota then say: `
	for name, c := range map[string]struct {
		selector rules.CandidateSelector
		queues   []queue.Queue
		alone    bool
		runs     []workload.Workload
		want     []string
	}{
		"anybody": {rules.CandidateSelector{Scope: rules.AnyClusterQueue}, []queue.Queue{{Name: "a", Rules: "c"}, {Name: "b", Rules: "c"}}, false,
			[]workload.Workload{{ID: "x", Queue: "a"}, {ID: "y", Queue: "b"}}, []string{each + "x and y"}},
		"one way": {rules.CandidateSelector{Scope: rules.AnyClusterQueue}, []queue.Queue{{Name: "a", Rules: "c"}, {Name: "b"}}, false,
			[]workload.Workload{{ID: "x", Queue: "a"}, {ID: "y", Queue: "b"}}, nil},
		"lower priority": {rules.CandidateSelector{Scope: rules.WithinClusterQueue, Priority: lower}, []queue.Queue{{Name: "a", Rules: "c"}}, false,
			[]workload.Workload{{ID: "x", Queue: "a"}, {ID: "y", Queue: "a", Priority: 1}}, nil},
		"two of one kind": {rules.CandidateSelector{Scope: rules.WithinClusterQueue}, []queue.Queue{{Name: "a", Rules: "c"}}, false,
			[]workload.Workload{{ID: "x", Queue: "a"}, {ID: "y", Queue: "a"}}, []string{each + "x and another like it"}},
		"one of a kind": {rules.CandidateSelector{Scope: rules.WithinClusterQueue}, []queue.Queue{{Name: "a", Rules: "c"}}, false,
			[]workload.Workload{{ID: "x", Queue: "a"}}, nil},
		"later": {rules.CandidateSelector{Scope: rules.WithinClusterQueue, Time: rules.Times{MinExecutionDuration: quota.Some(time.Hour)}}, []queue.Queue{{Name: "a", Rules: "c"}}, false,
			[]workload.Workload{{ID: "x", Queue: "a"}, {ID: "y", Queue: "a"}}, []string{each + "x and another like it"}},
		"a policy against a rule": {rules.CandidateSelector{Scope: rules.WithinClusterQueue, Priority: higher},
			[]queue.Queue{{Name: "a", Rules: "c", Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}}, false,
			[]workload.Workload{{ID: "x", Queue: "a"}, {ID: "y", Queue: "a", Priority: 1}},
			[]string{`rule "r" selector 0 of "c" and withinClusterQueue LowerPriority of queue "a" accept two workloads for each other, whatever times, triggers and quota then say: x and y`}},
		"rules alone": {rules.CandidateSelector{Scope: rules.WithinClusterQueue, Priority: higher},
			[]queue.Queue{{Name: "a", Rules: "c", Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}}, true,
			[]workload.Workload{{ID: "x", Queue: "a"}, {ID: "y", Queue: "a", Priority: 1}}, nil},
		"reclaim against a rule": {rules.CandidateSelector{Scope: rules.AnyClusterQueue},
			[]queue.Queue{{Name: "a", Cohort: "k", Rules: "c"}, {Name: "b", Cohort: "k", Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}}}, false,
			[]workload.Workload{{ID: "x", Queue: "a"}, {ID: "y", Queue: "b"}},
			[]string{`rule "r" selector 0 of "c" and reclaimWithinCohort Any of queue "b" accept two workloads for each other, whatever times, triggers and quota then say: x and y`}},
		"never yields": {rules.CandidateSelector{Scope: rules.AnyClusterQueue}, []queue.Queue{{Name: "a", Rules: "c"}}, false,
			[]workload.Workload{{ID: "x", Queue: "a", NeverYields: true}, {ID: "y", Queue: "a"}}, nil},
	} {
		in := &Cluster{State: preemption.State{Cohorts: []queue.Cohort{{Name: "k"}}, Queues: c.queues, Rules: selects(c.selector), Admitted: c.runs}, Now: now, Config: preemption.Config{Compat: preemption.Compat{RulesAlone: c.alone}}}
		found, err := Run(in, "mutual")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			got = append(got, f.Problem+": "+f.Example)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: - want, + got:\n%s", name, diff)
		}
	}
}

// Two selectors that cannot hold one after the other are no finding, as policies are none.
func TestRulesThatExcludeEachOther(t *testing.T) {
	of := func(q rules.QuotaConstraint) rules.CandidateSelector {
		return rules.CandidateSelector{Scope: rules.WithinCohortTree, Quota: q}
	}
	times := func(of rules.Times) rules.CandidateSelector {
		return rules.CandidateSelector{Scope: rules.WithinClusterQueue, Time: of}
	}
	hour := quota.Some(time.Hour)
	reclaims := queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}
	borrows := queue.PreemptionPolicy{ReclaimWithinCohort: queue.LowerPriority, BorrowWithinCohort: queue.BorrowWithinCohort{Policy: queue.LowerPriority}}
	for name, c := range map[string]struct {
		a, b     rules.CandidateSelector // of two queues; the second has no rules if it has a policy
		policy   queue.PreemptionPolicy
		fair     bool
		priority int64 // of the second workload
		other    bool  // it runs in the other queue
		found    bool
	}{
		"reclaim, both":                {a: of(rules.BorrowingCapacityFromPreemptor), b: of(rules.BorrowingCapacityFromPreemptor), other: true},
		"shares, both":                 {a: of(rules.DRSLessThanInitialShare), b: of(rules.DRSLessThanOrEqualToFinalShare), other: true},
		"reclaim and shares":           {a: of(rules.BorrowingCapacityFromPreemptor), b: of(rules.DRSAllStrategies), other: true},
		"reclaim and borrowing":        {a: of(rules.Borrowing), b: of(rules.BorrowingCapacityFromPreemptor), other: true},
		"borrowing, both":              {a: of(rules.Borrowing), b: of(rules.Borrowing), other: true, found: true},
		"borrowing and shares":         {a: of(rules.DRSAllStrategies), b: of(rules.Borrowing), other: true, found: true},
		"reclaim and nothing":          {a: of(rules.BorrowingCapacityFromPreemptor), b: of(""), other: true, found: true},
		"in the own queue nobody":      {a: of(rules.Borrowing), b: of(rules.Borrowing)},
		"reclaim, and the policy":      {a: of(rules.BorrowingCapacityFromPreemptor), policy: reclaims, other: true},
		"borrowing, and the policy":    {a: of(rules.Borrowing), policy: reclaims, other: true},
		"borrowing, and that policy":   {a: of(rules.Borrowing), policy: borrows, priority: 1, other: true, found: true},
		"borrowing, and fair sharing":  {a: of(rules.Borrowing), policy: reclaims, fair: true, other: true, found: true},
		"shares, and fair sharing":     {a: of(rules.DRSAllStrategies), policy: reclaims, fair: true, other: true},
		"created later, both":          {a: times(rules.Times{TimeFromCreationRelation: rules.LessThan})},
		"not created earlier, both":    {a: times(rules.Times{TimeFromCreationRelation: rules.LessThanOrEqual}), found: true},
		"an hour":                      {a: times(rules.Times{MinExecutionDuration: hour}), found: true},
		"has run less than who waits":  {a: times(rules.Times{ExecutionTimeRelation: rules.LessThan})},
		"has run as long, and an hour": {a: times(rules.Times{ExecutionTimeRelation: rules.LessThanOrEqual, MinExecutionDuration: hour})},
		"has run for no time":          {a: times(rules.Times{MaxExecutionDuration: quota.Some[time.Duration](0)})},
		"never so old":                 {a: times(rules.Times{MinTimeFromCreationDuration: hour, MaxTimeFromCreationDuration: hour})},
	} {
		config := func(name string, s rules.CandidateSelector) rules.Config {
			return rules.Config{Name: name, Rules: []rules.Rule{{Name: "r", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: []rules.CandidateSelector{s}}}}
		}
		in := clusterOf(t, func(in *Cluster) {
			in.State.Rules = []rules.Config{config("a", c.a)}
			in.State.Queues[0].Rules, in.State.Queues[0].Preemption = "a", queue.PreemptionPolicy{}
			if in.State.Queues[1].Preemption = c.policy; c.b.Scope != "" {
				in.State.Queues[1].Rules = "b"
				in.State.Rules = append(in.State.Rules, config("b", c.b))
			}
			if c.fair {
				in.Config.Sharing = preemption.Fair
			}
			x, y := job("x", "a", 4), job("y", "a", 4)
			if y.Priority = c.priority; c.other {
				y.Queue = "b"
			}
			in.State.Admitted, in.Pending = []workload.Workload{x, y}, nil
			for i := range in.State.Admitted {
				in.State.Admitted[i].ReservedAt, in.State.Admitted[i].Created = now.Add(-time.Minute), now.Add(-time.Minute*time.Duration(i+1))
			}
		})
		if found, err := Run(in, "mutual"); err != nil || len(found) > 0 != c.found {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}

// Two of one kind are one. Of more kinds than are compared, the lint says that it did not look at all.
func TestManyKindsOfWorkloads(t *testing.T) {
	for kinds, want := range map[int][]string{
		maxMutual:     nil,
		maxMutual + 1: {"mutual rules were looked for between 250 of the 251 kinds of workloads: between all it would take too long"},
	} {
		in := &Cluster{State: preemption.State{
			Queues: []queue.Queue{{Name: "a", Rules: "c"}},
			Rules: []rules.Config{{Name: "c", Rules: []rules.Rule{{Name: "r", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always},
				CandidateSelectors: []rules.CandidateSelector{{Scope: rules.WithinClusterQueue, Priority: rules.Priority{Mode: rules.Boosted, Comparison: rules.LessThan}}}}}}},
		}, Now: now}
		for i := range 2 * kinds {
			in.State.Admitted = append(in.State.Admitted, workload.Workload{ID: fmt.Sprint(i), Queue: "a", Priority: int64(i % kinds)})
		}
		for range 2 { // what one run says does not add to the next
			if _, err := Run(in, "mutual"); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, in.Unfinished); diff != "" {
			t.Errorf("%d kinds: - want, + got:\n%s", kinds, diff)
		}
	}
}
