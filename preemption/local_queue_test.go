package preemption_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

func in(local string, w workload.Workload) workload.Workload {
	w.LocalQueue = local
	return w
}

// Usage of local queues that differs in no queue changes nothing, whatever it is in other queues:
// Kueue compares it in a queue. In classical sharing, without a cohort, it is order only: as many
// requests succeed as without it.
func usageOfLocalQueuesIsOrder(t *rapid.T, config preemption.Config) {
	record := preemptiontest.Records().Draw(t, "record")
	st, r := cloneState(record.State), *record.Request
	for i := range st.Admitted {
		st.Admitted[i].LocalQueue = rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "local queue")
	}
	r.LocalQueueUsage = nil
	without := decideWith(t, config, snapshotOf(t, st), r)
	alike := cloneState(st)
	for i := range alike.Queues {
		name := "of " + alike.Queues[i].Name
		r.LocalQueueUsage = append(r.LocalQueueUsage, queue.LocalQueueUsage{LocalQueue: name, Usage: rapid.Float64Range(0, 9).Draw(t, "usage")})
	}
	for i := range alike.Admitted {
		alike.Admitted[i].LocalQueue = "of " + alike.Admitted[i].Queue
	}
	noDiff(t, "the same usage in each queue", without, decideWith(t, config, snapshotOf(t, alike), r), sameDecision)
	r.LocalQueueUsage = nil
	for _, name := range []string{"a", "b", "c"} {
		r.LocalQueueUsage = append(r.LocalQueueUsage, queue.LocalQueueUsage{LocalQueue: name, Usage: rapid.Float64Range(0, 9).Draw(t, "usage")})
	}
	d := decideWith(t, config, snapshotOf(t, st), r)
	if config.Sharing == preemption.Classical && len(st.Cohorts) == 0 && (d.Outcome != without.Outcome || !d.RetryAt.Equal(without.RetryAt)) {
		t.Fatalf("%v at %v with usage, %v at %v without", d.Outcome, d.RetryAt, without.Outcome, without.RetryAt)
	}
	verified(t, st, r, config, d)
}

// The candidates of another queue are ordered by usage, too; queues are merged by their next
// candidates.
func TestLocalQueueUsageInOtherQueues(t *testing.T) {
	policy := queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}},
		Queues: []queue.Queue{{Name: "a", Cohort: "c", Quotas: gpus(9), Preemption: policy}, {Name: "b", Cohort: "c", Quotas: gpus(0)},
			{Name: "d", Cohort: "c", Quotas: gpus(0)}},
		Admitted: []workload.Workload{
			in("little", job("low", "b", 0, 1, started(9))), in("much", job("high", "b", 5, 1, started(9))),
			in("much", job("higher", "b", 7, 1, started(9))), in("other", job("between", "d", 6, 1, started(9))),
			job("staying", "a", 0, 5, started(9)),
		},
	}
	for _, sharing := range []preemption.Sharing{preemption.Classical, preemption.Fair} {
		for asks := range 4 {
			r := pending("a", 10, int64(asks+1))
			r.LocalQueueUsage = []queue.LocalQueueUsage{{LocalQueue: "much", Usage: 7}, {LocalQueue: "little", Usage: 0.5}}
			d := decideWith(t, preemption.Config{Sharing: sharing}, snapshotOf(t, st), r)
			got := make([]string, len(d.Victims))
			for _, v := range d.Victims {
				got[v.Order-1] = v.Workload
			}
			want := []string{"high", "between", "higher", "low"}
			if sharing == preemption.Fair { // shares decide between the queues
				other := func(id string) bool { return id == "between" }
				got, want = slices.DeleteFunc(got, other), slices.DeleteFunc(want, other)
			}
			if len(got) == 0 || !slices.Equal(got, want[:len(got)]) {
				t.Errorf("%v, %d asked: %v, want the first of %v", sharing, asks+1, got, want)
			}
		}
	}
}

func TestLocalQueueUsageIsValidated(t *testing.T) {
	r := pending("a", 10, 1)
	r.LocalQueueUsage = []queue.LocalQueueUsage{{Usage: 1}, {LocalQueue: "a", Usage: -1}, {LocalQueue: "a"}, {LocalQueue: "b", Usage: math.NaN()}, {LocalQueue: "c", Usage: math.Inf(1)}}
	_, err := new(preemption.Preemptor).Decide(snapshotOf(t, preemption.State{Queues: []queue.Queue{{Name: "a"}}}), r)
	wantFaults(t, err,
		"request.localQueueUsage[0].localQueue: is empty",
		"request.localQueueUsage[1].usage: -1 is not a finite number of zero or more",
		`request.localQueueUsage[2].localQueue: "a" has an entry already`,
		"request.localQueueUsage[3].usage: NaN is not a finite number of zero or more",
		"request.localQueueUsage[4].usage: +Inf is not a finite number of zero or more",
	)
}

// A workload that is updated into another local queue counts there.
func TestUpdatedLocalQueue(t *testing.T) {
	st := preemption.State{
		Queues:   []queue.Queue{{Name: "a", Quotas: gpus(2), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}},
		Admitted: []workload.Workload{in("little", job("x", "a", 0, 1, started(5))), in("much", job("y", "a", 0, 1, started(9)))},
	}
	r := pending("a", 10, 1)
	r.LocalQueueUsage = []queue.LocalQueueUsage{{LocalQueue: "much", Usage: 7}, {LocalQueue: "more", Usage: 9}, {LocalQueue: "little", Usage: 0.5}}
	s := snapshotOf(t, st)
	for _, c := range []struct{ local, victim string }{{"little", "y"}, {"more", "x"}, {"little", "y"}} {
		s = edit(t, s, preemption.Admit(in(c.local, st.Admitted[0])))
		if got := ids(decide(t, s, r).Victims); len(got) != 1 || got[0] != c.victim {
			t.Errorf("x is in %q: %v, want %s", c.local, got, c.victim)
		}
	}
}

// Of two queues with the same share the one comes first whose next candidate does: surplus before whole workloads, also where the usage of
// local queues orders the candidates.
func TestSurplusOfQueuesAlikeComesFirst(t *testing.T) {
	elastic := in("little", job("elastic", "b", 0, 2, started(9)))
	elastic.PodSets[0].MinCount = workload.AtLeast(1)
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}},
		Queues: []queue.Queue{{Name: "a", Cohort: "c", Quotas: gpus(9), Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}},
			{Name: "b", Cohort: "c", Quotas: gpus(0)}, {Name: "d", Cohort: "c", Quotas: gpus(0)}},
		Admitted: []workload.Workload{elastic, in("much", job("whole", "d", 0, 2, started(1))), job("staying", "a", 0, 5, started(9))},
	}
	r := pending("a", 10, 1)
	r.LocalQueueUsage = []queue.LocalQueueUsage{{LocalQueue: "much", Usage: 7}, {LocalQueue: "little", Usage: 0.5}}
	d := decideWith(t, preemption.Config{Sharing: preemption.Fair}, snapshotOf(t, st), r)
	if len(d.Victims) != 1 || d.Victims[0].Workload != "elastic" || len(d.Victims[0].Replicas) != 1 {
		t.Errorf("%+v", d.Victims)
	}
}
