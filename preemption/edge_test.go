package preemption_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
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
	if got := text(decide(t, snapshotOf(t, st), r)); got != "Preempt: b1 InCohortReclaimWhileBorrowing" {
		t.Errorf("where the caller says that it does: %s", got)
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
