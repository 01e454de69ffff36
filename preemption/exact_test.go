package preemption_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Costs that add up to more than an int64 holds do not decide: the next points of the
// objective do. The law of the best set found this state.
func TestExactCostsThatSaturate(t *testing.T) {
	data := must(os.ReadFile("testdata/exact-saturates.json"))(t)
	record := must(preemption.ParseRecord(data))(t)
	config := preemption.Config{Search: preemption.Best, MaxRetrySteps: -1, Cost: preemption.CostByAge{Resources: []string{"cpu", "gpu"}}}
	d := decideWith(t, config, snapshotOf(t, record.State), *record.Request)
	var got []string
	for _, v := range d.Victims {
		got = append(got, fmt.Sprint(v.Workload, v.Replicas))
	}
	if want := "[ns/w00[] ns/w03[{second 1 0}]]"; fmt.Sprint(got) != want || !d.Proof.Optimal {
		t.Errorf("%v, proof %+v; want %s", got, d.Proof, want)
	}
}

// The initial share of a side is that before its last victim, and not every victim can be the
// last: without "large" its queue does not borrow, so that "small" cannot go after it.
// Against the share before "large" goes, the request has no right.
func TestExactLastVictimOfASide(t *testing.T) {
	two := func(cpu, gpu int64) []quota.Quota {
		return []quota.Quota{{Flavor: "f", Resource: "cpu", Nominal: cpu}, {Flavor: "f", Resource: "gpu", Nominal: gpu}}
	}
	uses := func(id, queue string, cpu, gpu int64) workload.Workload {
		w := job(id, queue, 0, 1, started(5))
		w.PodSets[0].Requests = []quota.Amount{{Flavor: "f", Resource: "cpu", Amount: cpu}, {Flavor: "f", Resource: "gpu", Amount: gpu}}
		return w
	}
	for _, at := range [][2]time.Time{{started(5), started(6)}, {started(6), started(5)}} {
		st := preemption.State{
			Cohorts: []queue.Cohort{{Name: "co"}, {Name: "side", Parent: "co", FairWeight: quota.WeightOf(0.5)}},
			Queues: []queue.Queue{
				{Name: "a", Cohort: "co", Quotas: two(2, 10), Preemption: fairPolicy}, {Name: "b", Cohort: "side", Quotas: two(3, 9)}, {Name: "c", Cohort: "side"},
			},
		}
		stays := uses("stays", "c", 0, 9)
		stays.NeverYields = true
		small, large := uses("small", "b", 1, 9), uses("large", "b", 4, 0)
		small.ReservedAt, large.ReservedAt = at[0], at[1]
		st.Admitted = []workload.Workload{small, large, stays}
		config := preemption.Config{Sharing: preemption.Fair, Search: preemption.Best, Strategies: []preemption.FairStrategy{preemption.LessThanInitialShare}}
		r := pending("a", 1, 1)
		r.Workload = uses("pending", "a", 5, 10)
		if d := decideWith(t, config, snapshotOf(t, st), r); d.Outcome != preemption.Impossible {
			t.Errorf("%s, want Impossible", text(d))
		}
	}
}

// RetryAt is not later than the first instant at which a set is allowed, however few steps there
// are: a trial that uses them up may have succeeded.
func TestExactRetryAtWithFewSteps(t *testing.T) {
	policy := queue.PreemptionPolicy{ReclaimWithinCohort: queue.LowerPriority, BorrowWithinCohort: queue.BorrowWithinCohort{Policy: queue.LowerPriority}}
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "co", Quotas: gpus(2)}},
		Queues:  []queue.Queue{{Name: "a", Cohort: "co", Quotas: gpus(2), Preemption: policy}, {Name: "b", Cohort: "co", Quotas: gpus(4)}},
		// After "small" its queue borrows no more, and "large" stays: the search in order fails.
		Admitted: []workload.Workload{job("small", "b", 0, 1, started(90)), job("large", "b", 1, 4, started(30))},
	}
	want := started(30).Add(time.Hour + 1)
	for _, steps := range []int{0, 1, 2, 3, 10} {
		config := preemption.Config{
			Search: preemption.Best, Best: preemption.BestSearch{Steps: steps},
			MinRuntime: minruntime.Defaults{Reclaim: quota.Some(time.Hour)},
		}
		r := pending("a", 5, 5)
		d := decideWith(t, config, snapshotOf(t, st), r)
		if d.Outcome != preemption.Wait || !d.RetryAt.Equal(want) {
			t.Errorf("%d steps: %s at %v, want Wait until %v", steps, text(d), d.RetryAt, want)
		}
		if err := verify.Decision(st, r, config, d); err != nil {
			t.Errorf("%d steps: %v", steps, err)
		}
	}
}
