package preemption_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// The steps and what is short are of the columns asked about now, also after the flavors of a
// request were tried at later instants with other columns.
func TestExplainIsOfNow(t *testing.T) {
	s := snapshotOf(t, preemption.State{
		Cohorts: []queue.Cohort{{Name: "c", MinRuntime: minruntime.Settings{Preempt: quota.Some(10 * time.Minute)}}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "c", Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerOrNewerEqualPriority}, Quotas: []quota.Quota{
				{Flavor: "burst", Resource: "cpu", Nominal: 6}, {Flavor: "spot", Resource: "memory"}, {Flavor: "reserved", Resource: "cpu", Nominal: 4},
			}},
			{Name: "b", Cohort: "c"},
		},
		Admitted: []workload.Workload{
			{ID: "full", Queue: "a", ReservedAt: now.Add(-5 * time.Minute), PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{
				{Flavor: "burst", Resource: "cpu", Amount: 10}, {Flavor: "reserved", Resource: "cpu", Amount: 3}}}}},
			{ID: "other", Queue: "b", PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{
				{Flavor: "reserved", Resource: "cpu", Amount: 1}}}}},
		},
	})
	r := preemption.Request{Now: now, Workload: workload.Workload{ID: "p", Queue: "a", Priority: 1, PodSets: []workload.PodSet{
		{Name: "first", Count: 1, Requests: []quota.Amount{{Resource: "cpu", Amount: 1}}},
		{Name: "second", Count: 1, Requests: []quota.Amount{{Resource: "cpu", Amount: 3}, {Resource: "memory", Amount: 1}}},
	}}}
	e := explainWith(t, preemption.Config{}, s, r)
	noDiff(t, "- Decide, + Explain", decideWith(t, preemption.Config{}, s, r), e.Decision, sameDecision)
	says(t, e, "asks for ")
}

// says fails if an explanation does not have a text in a line.
func says(t *testing.T, e explain.Explanation, want ...string) {
	t.Helper()
	text := explain.Printer{Width: -1}.Text(e.Steps)
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("without %q:\n%s", w, text)
		}
	}
}

// It is said which cohort sets a minimum runtime, and who is passed over in a search
// because those before them brought their queue back to its quota.
func TestExplainedNodes(t *testing.T) {
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "c", MinRuntime: minruntime.Settings{Reclaim: quota.Some(time.Minute)}}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "c", Quotas: gpus(6), Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.LowerPriority}},
			{Name: "b", Cohort: "c", Quotas: gpus(2)}, {Name: "d", Cohort: "c", Quotas: gpus(2)},
		},
		Admitted: []workload.Workload{
			job("b1", "b", 0, 2, started(5)), job("b2", "b", 1, 2, started(5)), job("d1", "d", 5, 5, started(5)), job("d2", "d", 0, 1, started(0)),
		},
	}
	e := explainWith(t, preemption.Config{}, snapshotOf(t, st), pending("a", 10, 6))
	says(t, e, "     their queue borrows no more: b2\n", "    1 has not run for its minimum runtime, set by cohort \"c\", until ")
}

// It is said that a guard protects somebody, and when it ends.
func TestExplainedGuard(t *testing.T) {
	until := now.Add(time.Hour)
	st := preemption.State{
		Queues:   []queue.Queue{{Name: "a", Quotas: gpus(2), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}},
		Admitted: []workload.Workload{job("guarded", "a", 0, 2, started(5))},
	}
	e := explainWith(t, preemption.Config{Guards: []preemption.Guard{untilThen{until}}}, snapshotOf(t, st), pending("a", 10, 2))
	says(t, e, "1 is kept by a guard, until 13:00:00: guarded\n")
	noDiff(t, "- want, + got", []explain.End{{Rule: preemption.RuleGuarded, Node: `queue "a"`, From: until, Last: until}}, e.Ends)
}

type untilThen struct{ at time.Time }

func (g untilThen) Verdict(workload.Workload, preemption.Request) preemption.Verdict {
	return preemption.ProtectedUntil(g.at)
}

// In fair sharing with many queues sums prove that nobody helps before any share is compared. What
// can be borrowed is not missing.
func TestExplainedHopelessShares(t *testing.T) {
	st := preemption.State{Cohorts: []queue.Cohort{{Name: "c", Quotas: []quota.Quota{{Flavor: "h100", Resource: "cpu", Nominal: 1}}}}, Queues: []queue.Queue{
		{Name: "a", Cohort: "c", Quotas: append(gpus(400), quota.Quota{Flavor: "h100", Resource: "cpu"}),
			Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.LowerPriority}}}}
	for i := range 70 {
		name := fmt.Sprintf("q%02d", i)
		st.Queues = append(st.Queues, queue.Queue{Name: name, Cohort: "c", Quotas: gpus(1)})
		st.Admitted = append(st.Admitted, job("low-"+name, name, 0, 2, started(5)), job("high-"+name, name, 20, 3, started(5)))
	}
	r := pending("a", 10, 400)
	r.Workload.PodSets = append(r.Workload.PodSets, workload.PodSet{Name: "cpu", Count: 1, Requests: []quota.Amount{{Flavor: "h100", Resource: "cpu", Amount: 1}}})
	e := explainWith(t, preemption.Config{Sharing: preemption.Fair}, snapshotOf(t, st), r)
	says(t, e, "     not enough without all of permitted priority in queues that borrow: short of ")
}

// A way of fewer replicas lowers the least number of replicas only if that is above it.
func TestWayOfReplicasKeepsMinCount(t *testing.T) {
	s := snapshotOf(t, preemption.State{})
	for _, c := range []struct{ least, replicas, want int64 }{{3, 2, 2}, {2, 3, 2}, {2, 2, 2}} {
		r := pending("a", 0, 1)
		r.Workload.PodSets[0].Count, r.Workload.PodSets[0].MinCount = 4, workload.AtLeast(c.least)
		w := explain.Way{Kind: explain.WayReplicas, PodSet: r.Workload.PodSets[0].Name, Replicas: c.replicas}
		_, r, err := w.Apply(s, r)
		if err != nil {
			t.Fatal(err)
		}
		p := r.Workload.PodSets[0]
		if least, _ := p.MinCount.Get(); p.Count != c.replicas || least != c.want {
			t.Errorf("%d of at least %d replicas: %d of at least %d", c.replicas, c.least, p.Count, least)
		}
	}
}

// The priority of a newer workload is enough, also if it is the last but one and another queue has the
// last.
func TestWayOfTheLastPriorities(t *testing.T) {
	newer := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerOrNewerEqualPriority}
	s := snapshotOf(t, preemption.State{
		Cohorts: []queue.Cohort{{Name: "all"}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "all", Quotas: gpus(1)}, {Name: "b", Cohort: "all", Quotas: gpus(2), Preemption: newer}, {Name: "c", Cohort: "all", Quotas: gpus(1)},
		},
		Admitted: []workload.Workload{
			job("a", "a", math.MaxInt64, 1, now), job("b", "b", math.MaxInt64-1, 2, now.Add(time.Minute)), job("c", "c", math.MaxInt64, 1, now),
		},
	})
	for _, w := range explainWith(t, preemption.Config{}, s, pending("b", math.MaxInt64-2, 2)).Ways {
		if w.Kind == explain.WayPriority && w.Priority == math.MaxInt64-1 {
			return
		}
	}
	t.Error("no such way")
}

// Who is compared without boosts may yield to a priority that is none of the effective ones.
func TestWayOfABasePriority(t *testing.T) {
	for _, boost := range []int64{20, 0, -10} {
		runs := onGPUs("runs", "a", 4)
		runs.Priority, runs.PriorityBoost = 10, boost
		st := heroes(runs, onGPUs("beside", "b", 4))
		lower := anybody(rules.Always)
		lower.CandidateSelectors = []rules.CandidateSelector{{Scope: rules.WithinClusterQueue, Priority: rules.Priority{Mode: rules.Base, Comparison: rules.LessThan}}}
		st.Rules = []rules.Config{{Name: "hero", Rules: []rules.Rule{lower}}}
		r := preemption.Request{Workload: onGPUs("hero", "a", 4), Now: now}
		r.Workload.Priority, r.Workload.PriorityBoost = 5, 1
		found := false
		for _, w := range explainWith(t, preemption.Config{Compat: preemption.Compat{RulesAlone: true}}, snapshotOf(t, st), r).Ways {
			found = found || w.Kind == explain.WayPriority && w.Priority == 11
		}
		if !found {
			t.Errorf("boost %d: no such way", boost)
		}
	}
}
