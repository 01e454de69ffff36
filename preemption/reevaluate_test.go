package preemption_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// reevaluate draws, where it may be set, whether the first strategy runs again.
func reevaluate(t *rapid.T, c *preemption.Config) {
	if c.Sharing == preemption.Fair && rapid.IntRange(0, 1).Draw(t, "reevaluate") == 1 {
		c.Sharing = preemption.Reevaluated
	}
}

// Only a decision in which somebody of the own queue may be taken, and that the first strategy
// alone does not make, can change by the switch. One that it makes, in one attempt, stays. Where what leaves already
// is enough, no attempt may have made it: it is enough with the switch, too.
func reevaluationChangesLittle(t *rapid.T) {
	record := preemptiontest.Records().Draw(t, "record")
	config := preemptiontest.Configs().Draw(t, "config")
	config.Sharing = preemption.Fair
	again := config
	again.Sharing = preemption.Reevaluated
	s := snapshotOf(t, record.State)
	without, with := decideWith(t, config, s, *record.Request), decideWith(t, again, s, *record.Request)
	policy := queue.Never
	for _, q := range record.State.Queues {
		if q.Name == record.Request.Workload.Queue {
			policy = q.Preemption.WithinClusterQueue
		}
	}
	if policy == queue.Never || without.Outcome == preemption.Fits {
		noDiff(t, "- without, + with", without, with, sameDecision)
	}
	config.Strategies = []preemption.FairStrategy{preemption.LessThanOrEqualToFinalShare}
	again.Strategies = config.Strategies
	without, with = decideWith(t, config, s, *record.Request), decideWith(t, again, s, *record.Request)
	switch {
	case leavingAlone(without):
		if !leavingAlone(with) {
			t.Fatalf("%v leave already, but with the switch: %v %v", without.Victims, with.Outcome, with.Victims)
		}
	case without.Outcome == preemption.Preempt:
		noDiff(t, "by the first strategy alone: - without, + with", without, with, sameDecision)
	}
}

func TestReevaluationChangesLittle(t *testing.T) { rapid.Check(t, reevaluationChangesLittle) }

// The second run takes a smaller workload, and then the share of its queue is too small for the
// second strategy, which would have taken the larger one and made room.
func TestReevaluationCanLeaveTheSecondStrategyNobody(t *testing.T) {
	policy := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}
	s := snapshotOf(t, preemption.State{
		Cohorts: []queue.Cohort{{Name: "all"}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "all", Quotas: gpus(0), Preemption: policy},
			{Name: "b", Cohort: "all", Quotas: gpus(4)},
		},
		Admitted: []workload.Workload{
			job("own", "a", 0, 1, started(20)),
			job("large", "b", -1, 4, started(20)), job("small", "b", 0, 1, started(20)), job("small too", "b", 0, 1, started(20)),
		},
	})
	for sharing, want := range map[preemption.Sharing]string{preemption.Fair: "Preempt: large InCohortFairSharing", preemption.Reevaluated: "Impossible: FairShare b large"} {
		config := preemption.Config{Sharing: sharing}
		wantText(t, text(decideWith(t, config, s, pending("a", 1, 1))), want, "%v", sharing)
	}
}

// A workload of the own queue makes room in the nominal quota: then the other queue, which a
// strategy refused, is reclaimed from. Its protection against reclaims is asked then.
func TestReevaluationDecidesEntitlementAnew(t *testing.T) {
	policy := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "all"}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "all", Quotas: gpus(4), Preemption: policy},
			{Name: "b", Cohort: "all", Quotas: gpus(4)},
			{Name: "lender", Cohort: "all", Quotas: gpus(3)},
		},
		Admitted: []workload.Workload{job("own", "a", -1, 3, started(20)), job("other", "b", 0, 8, started(20))},
	}
	st.Admitted[1].AdmittedAt = started(1)
	r := pending("a", 0, 4) // with which the shares are 3 and 4 over nominal
	for _, c := range []struct {
		sharing   preemption.Sharing
		protected bool
		want      string
	}{
		{preemption.Fair, false, "Impossible"},
		{preemption.Reevaluated, false, "Preempt other InCohortReclamation"},
		{preemption.Reevaluated, true, "Wait"},
	} {
		config := preemption.Config{Sharing: c.sharing, Strategies: []preemption.FairStrategy{preemption.LessThanOrEqualToFinalShare}}
		if c.protected {
			config.Protection.Reclaim = 10 * 60e9
		}
		d := decideWith(t, config, snapshotOf(t, st), r)
		got := d.Outcome.String()
		for i, v := range d.Victims {
			got += map[bool]string{true: " ", false: ", "}[i == 0] + v.Workload + " " + v.Reason.String()
		}
		if got != c.want {
			t.Errorf("%v, protected %v: %s, want %s", c.sharing, c.protected, got, c.want)
		}
		if c.protected && !d.RetryAt.Equal(now.Add(9*60e9)) {
			t.Errorf("RetryAt %v", d.RetryAt)
		}
		verified(t, st, r, config, d)
		agrees(t, config, st, r, d)
	}
	if _, err := preemption.New(preemption.Config{Sharing: preemption.Reevaluated, Search: preemption.Best}); err == nil {
		t.Error("with Best it is no error")
	}
}

// Replicas of one pod set, of which a strategy took some and none the others, are one entry.
func TestReevaluationAddsReplicasUp(t *testing.T) {
	policy := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}
	elastic := job("elastic", "b", -1, 2, time.Time{})
	elastic.PodSets[0].MinCount = workload.AtLeast(0)
	elastic.PodSets = append(elastic.PodSets, elastic.PodSets[0])
	elastic.PodSets[1].Name = "second"
	s := snapshotOf(t, preemption.State{
		Cohorts:  []queue.Cohort{{Name: "all"}},
		Queues:   []queue.Queue{{Name: "a", Cohort: "all", Quotas: gpus(1), Preemption: policy}, {Name: "b", Cohort: "all", Quotas: gpus(0), Preemption: policy}},
		Admitted: []workload.Workload{job("own", "a", -1, 1, time.Time{}), elastic},
	})
	config := preemption.Config{Sharing: preemption.Reevaluated}
	d := decideWith(t, config, s, pending("a", 1, 1))
	if len(d.Victims) != 2 {
		t.Fatalf("%+v", d)
	}
	want := []preemption.Replicas{{PodSet: "main", Count: 2}, {PodSet: "second", Count: 2}}
	noDiff(t, "", want, d.Victims[0].Replicas)
}
