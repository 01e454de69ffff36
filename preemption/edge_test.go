package preemption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

func quotaOf(resource string, nominal int64) quota.Quota {
	return quota.Quota{Flavor: "h100", Resource: resource, Nominal: nominal}
}

func taking(w workload.Workload, resource string, n int64) workload.Workload {
	w.PodSets = append(w.PodSets, workload.PodSet{Name: resource, Count: 1, Requests: []quota.Amount{
		{Flavor: "h100", Resource: resource, Amount: n},
	}})
	return w
}

// Nothing of a resource needs no preemption, even where the cohort uses more of it than
// it has: a queue that borrows only that has nothing to reclaim.
func TestZeroAmountNeedsNothing(t *testing.T) {
	borrows := reclaims
	borrows.BorrowWithinCohort.Policy = queue.LowerPriority
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "c", Quotas: []quota.Quota{quotaOf("gpu", 4), quotaOf("ib", 1)}, Preemption: borrows},
			{Name: "b", Cohort: "c", Quotas: gpus(4)},
		},
		Admitted: []workload.Workload{
			job("a1", "a", 10, 4, started(1)), taking(job("b1", "b", 0, 4, started(1)), "ib", 3),
		},
	}
	r := pending("a", 10, 2)
	r.Workload = taking(r.Workload, "ib", 0)
	if got := text(decide(t, snapshotOf(t, st), r)); got != "Impossible: WithinClusterQueue a a1, WithinNominal b" {
		t.Error(got)
	}
	r.NeedsPreemption = []quota.FlavorResource{{Flavor: "h100", Resource: "gpu"}, {Flavor: "h100", Resource: "ib"}}
	d := decide(t, snapshotOf(t, st), r)
	if got := text(d); got != "Preempt: b1 InCohortReclaimWhileBorrowing" {
		t.Errorf("where the caller says that it does: %s", got)
	}
	if err := verify.Decision(st, r, preemption.Config{}, d); err != nil {
		t.Error(err)
	}
}

// The borrow height is that of the lowest cohort whose quota holds the amount less
// what the local quotas below it hold, at every level.
func TestBorrowHeight(t *testing.T) {
	kept := gpus(3)
	kept[0].LendingLimit = quota.AtMost(1) // keeps 2 to itself
	st := preemption.State{
		Cohorts: []queue.Cohort{
			{Name: "top"}, {Name: "root", Parent: "top", Quotas: gpus(4)},
			{Name: "mid", Parent: "root", Quotas: kept}, {Name: "low", Parent: "mid", Quotas: kept},
		},
		Queues: []queue.Queue{{Name: "a", Cohort: "low", Quotas: kept}},
	}
	// Subtree quotas: a 3, low 4, mid 4, root 5, of which each but the root keeps
	// some: 2, 3, 3. Of 12, 2 are held by a, 3 by low, 3 by mid: 4 are left for root.
	for _, c := range []struct {
		asked  int64
		height int
	}{{3, 0}, {4, 1}, {6, 1}, {7, 2}, {9, 2}, {10, 3}, {13, 3}} {
		d := decide(t, snapshotOf(t, st), pending("a", 0, c.asked))
		if d.Outcome != preemption.Fits || d.BorrowHeight != c.height {
			t.Errorf("%d: %v, borrow height %d, want %d", c.asked, d.Outcome, d.BorrowHeight, c.height)
		}
	}
}

// Blockers are looked for up to the highest node that bounds any of what is short.
func TestBlockersUpToTheHighestBound(t *testing.T) {
	limited := quotaOf("ib", 2)
	limited.BorrowingLimit = quota.AtMost(0)
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "c", Quotas: []quota.Quota{limited, quotaOf("gpu", 2)}},
			{Name: "b", Cohort: "c", Quotas: gpus(2)},
		},
		Admitted: []workload.Workload{
			taking(workload.Workload{ID: "ib", Queue: "a"}, "ib", 2), job("b1", "b", 0, 4, started(1)),
		},
	}
	r := pending("a", 10, 1)
	r.Workload.PodSets = append(taking(workload.Workload{}, "ib", 1).PodSets, r.Workload.PodSets...)
	d := decide(t, snapshotOf(t, st), r)
	if got := text(d); got != "Impossible: WithinClusterQueue a ib, ReclaimWithinCohort b b1" {
		t.Error(got)
	}
	if len(d.Shortage) != 2 || d.Shortage[0].Cohort != "c" || d.Shortage[1].Cohort != "" {
		t.Errorf("%+v", d.Shortage)
	}
}

// A departure: Kueue subtracts unlimited from unlimited and lends nothing.
func TestUnlimitedLendsItsLimit(t *testing.T) {
	lender := gpus(quota.Unlimited)
	lender[0].LendingLimit = quota.AtMost(4)
	s := snapshotOf(t, preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}},
		Queues:  []queue.Queue{{Name: "a", Cohort: "c"}, {Name: "lender", Cohort: "c", Quotas: lender}},
	})
	for amount, want := range map[int64]string{4: "Fits", 5: "Impossible"} {
		if got := text(decide(t, s, pending("a", 0, amount))); got != want {
			t.Errorf("%d: %s, want %s", amount, got, want)
		}
	}
	if got := text(decide(t, s, pending("lender", 0, quota.MaxUsage))); got != "Fits" {
		t.Errorf("the lender itself: %s", got)
	}
}

// In the own queue the minimum runtime against preemption counts alone, and in others
// that against reclaims.
func TestOwnQueueReadsItsOwnMinimumRuntime(t *testing.T) {
	hour := quota.Some(time.Hour)
	for _, c := range []struct {
		settings     minruntime.Settings
		own, another string
	}{
		{minruntime.Settings{Reclaim: hour}, "Preempt: a1 InClusterQueue", "Wait: GuaranteedRuntime b b1"},
		{minruntime.Settings{Preempt: hour}, "Wait: GuaranteedRuntime a a1", "Preempt: b1 InCohortReclamation"},
	} {
		policy := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}
		alone := preemption.State{
			Queues:   []queue.Queue{{Name: "a", Quotas: gpus(4), Preemption: policy, MinRuntime: c.settings}},
			Admitted: []workload.Workload{job("a1", "a", 0, 4, started(1))},
		}
		if got := text(decide(t, snapshotOf(t, alone), pending("a", 10, 4))); got != c.own {
			t.Errorf("%+v, own queue: %s, want %s", c.settings, got, c.own)
		}
		cohort := preemption.State{
			Cohorts:  []queue.Cohort{{Name: "c"}},
			Queues:   []queue.Queue{{Name: "a", Cohort: "c", Quotas: gpus(4), Preemption: policy}, {Name: "b", Cohort: "c", MinRuntime: c.settings}},
			Admitted: []workload.Workload{job("b1", "b", 0, 4, started(1))},
		}
		if got := text(decide(t, snapshotOf(t, cohort), pending("a", 10, 4))); got != c.another {
			t.Errorf("%+v, another queue: %s, want %s", c.settings, got, c.another)
		}
	}
}

// That a request is hopeless is proven by the sums of all donors, whichever queue or cohort is
// the first of the snapshot and however deep it is: all of twelve victims may be there.
func TestManyVictimsInTheFirstQueue(t *testing.T) {
	for _, path := range [][]string{{"in"}, {"in", "on"}, {"in", "on", "top"}} {
		st := preemption.State{Cohorts: []queue.Cohort{{Name: "root"}}, Queues: []queue.Queue{
			{Name: "a", Cohort: path[0], Quotas: gpus(0)}, {Name: "z", Cohort: "root", Quotas: gpus(12), Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}},
		}}
		for i, name := range path {
			st.Cohorts = append(st.Cohorts, queue.Cohort{Name: name, Parent: append(path, "root")[i+1]})
		}
		for i := range 12 {
			st.Admitted = append(st.Admitted, job(fmt.Sprintf("w%02d", i), "a", 0, 1, started(i)))
		}
		for _, sharing := range []preemption.Sharing{preemption.Classical, preemption.Fair} {
			d, err := preemptorOf(preemption.Config{Sharing: sharing}).Decide(snapshotOf(t, st), pending("z", 0, 12))
			if err != nil || d.Outcome != preemption.Preempt || len(d.Victims) != 12 {
				t.Errorf("%v, under %v: %v, %d victims, %v", sharing, path, d.Outcome, len(d.Victims), err)
			}
		}
	}
}

// With the largest first, "surplus replicas stay before their whole workload": here one replica
// and the largest workload make room. After the largest alone its queue borrows nothing, and in
// the usual order the queue borrows nothing once the two smaller ones have left.
func TestSurplusBeforeTheLargest(t *testing.T) {
	elastic := job("elastic", "b", 1, 3, started(5))
	elastic.PodSets[0].MinCount = workload.AtLeast(2)
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "root", Quotas: gpus(5)}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "root", Quotas: gpus(0), Preemption: queue.PreemptionPolicy{
				ReclaimWithinCohort: queue.LowerPriority, BorrowWithinCohort: queue.BorrowWithinCohort{Policy: queue.LowerPriority}}},
			{Name: "b", Cohort: "root", Quotas: gpus(5)},
		},
		Admitted: []workload.Workload{elastic, job("small", "b", 0, 2, started(5)), job("large", "b", 2, 5, started(5))},
	}
	for larger, want := range map[bool]string{false: "Impossible", true: "Preempt"} {
		d := decideWith(t, preemption.Config{ReconsiderLarger: larger}, snapshotOf(t, st), pending("a", 10, 6))
		var victims []string
		for _, v := range d.Victims {
			victims = append(victims, fmt.Sprint(v.Workload, len(v.Replicas)))
		}
		if got := fmt.Sprint(victims); d.Outcome.String() != want || larger && got != "[elastic1 large0]" {
			t.Errorf("larger %v: %v %s, want %s", larger, d.Outcome, got, want)
		}
	}
}
