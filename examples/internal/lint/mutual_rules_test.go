package lint

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/optional"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/rules"
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
		"later": {rules.CandidateSelector{Scope: rules.WithinClusterQueue, Time: rules.Times{MinExecutionDuration: optional.Of(time.Hour)}}, []queue.Queue{{Name: "a", Rules: "c"}}, false,
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
		in := &Cluster{State: preemption.State{Cohorts: []queue.Cohort{{Name: "k"}}, Queues: c.queues, Rules: selects(c.selector), Admitted: c.runs}, Now: now, Config: preemption.Config{RulesAlone: c.alone}}
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
