package preemption_test

import (
	"math"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

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
