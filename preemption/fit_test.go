package preemption_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

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
	wantText(t, text(decide(t, snapshotOf(t, st), r)), "Impossible: WithinClusterQueue a a1, WithinNominal b")
	r.NeedsPreemption = []quota.FlavorResource{{Flavor: "h100", Resource: "gpu"}, {Flavor: "h100", Resource: "ib"}}
	d := decide(t, snapshotOf(t, st), r)
	wantText(t, text(d), "Preempt: b1 InCohortReclaimWhileBorrowing", "where the caller says that it does")
	verified(t, st, r, preemption.Config{}, d)
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

// A departure: Kueue subtracts unlimited from unlimited and lends nothing.
func TestUnlimitedLendsItsLimit(t *testing.T) {
	lender := gpus(quota.Unlimited)
	lender[0].LendingLimit = quota.AtMost(4)
	s := snapshotOf(t, preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}},
		Queues:  []queue.Queue{{Name: "a", Cohort: "c"}, {Name: "lender", Cohort: "c", Quotas: lender}},
	})
	for amount, want := range map[int64]string{4: "Fits", 5: "Impossible"} {
		wantText(t, text(decide(t, s, pending("a", 0, amount))), want, "%d", amount)
	}
	wantText(t, text(decide(t, s, pending("lender", 0, quota.MaxUsage))), "Fits", "the lender itself")
}

// The largest amount of all is taken and refused as any other, in both ways of sharing.
func TestLargestAmount(t *testing.T) {
	policy := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}
	for _, c := range []struct {
		name           string
		nominal, other int64
		admitted       workload.Workload
		want           string
	}{
		{"reclaims", quota.MaxUsage, 0, job("b1", "b", 0, 1, started(1)), "Preempt: b1 InCohortReclamation"},
		{"takes the largest in its queue", quota.MaxUsage, 0, job("a1", "a", 0, quota.MaxUsage, started(1)), "Preempt: a1 InClusterQueue"},
		{"takes the largest elsewhere", quota.MaxUsage, 0, job("b1", "b", 0, quota.MaxUsage, started(1)), "Preempt: b1 InCohortReclamation"},
		{"one too many", quota.MaxUsage - 1, 0, job("b1", "b", 0, 1, started(1)), "Impossible"},
		{"borrows one", quota.MaxUsage - 1, 1, job("a1", "a", 0, 1, started(1)), "Preempt: a1 InClusterQueue"},
	} {
		st := preemption.State{
			Cohorts:  []queue.Cohort{{Name: "c"}},
			Queues:   []queue.Queue{{Name: "a", Cohort: "c", Quotas: gpus(c.nominal), Preemption: policy}, {Name: "b", Cohort: "c", Quotas: gpus(c.other), Preemption: policy}},
			Admitted: []workload.Workload{c.admitted},
		}
		for _, sharing := range []preemption.Sharing{preemption.Classical, preemption.Fair} {
			d := decideWith(t, preemption.Config{Sharing: sharing}, snapshotOf(t, st), pending("a", 10, quota.MaxUsage))
			wantText(t, text(d), c.want, "%s, %v", c.name, sharing)
			if d.Outcome == preemption.Impossible && len(d.Shortage) == 0 {
				t.Errorf("%s, %v: nothing is short", c.name, sharing)
			}
		}
	}
}

// The quota and the usage of an inactive queue count in its cohort, and nobody preempts from
// it. (As built in Kueue: the cohort of a snapshot holds the quota and the usage of a
// ClusterQueue that is not active, and the ClusterQueue itself is not in the snapshot.)
func TestInactiveQueue(t *testing.T) {
	reclaims := queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "c", Quotas: gpus(4), Preemption: reclaims},
			{Name: "b", Cohort: "c", Quotas: gpus(4), Preemption: reclaims},
		},
	}
	st.Admitted = append(st.Admitted, job("b/large", "b", 0, 6, started(10)))
	for _, c := range []struct {
		name           string
		stopped, asked int // indexes of queues; no queue: -1
		amount         int64
		want           string
	}{
		{"reclaimed from a queue that is active", -1, 0, 4, "Preempt b/large"},
		{"the rest of the cohort's quota is there", 1, 0, 2, "Fits"},
		{"nobody preempts from an inactive queue", 1, 0, 4, "Impossible QueueInactive b"},
		{"a queue that is active uses the quota of one that is not", 0, 1, 2, "Fits"},
		{"nothing in an inactive queue is admitted", 0, 0, 1, "Impossible QueueInactive a"},
	} {
		now := st
		now.Queues = append([]queue.Queue(nil), st.Queues...)
		if c.stopped >= 0 {
			now.Queues[c.stopped].Inactive = true
		}
		s := snapshotOf(t, now)
		r := pending(st.Queues[c.asked].Name, 10, c.amount)
		d := decide(t, s, r)
		got := d.Outcome.String()
		for _, v := range d.Victims {
			got += " " + v.Workload
		}
		for _, b := range d.Blockers {
			got += " " + b.Rule.String() + " " + b.Queue
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		var p *preemption.Preemptor
		f, err := p.Forecast(s, r, quota.Amount{Flavor: "h100", Resource: "gpu", Amount: c.amount})
		if none := f.Possibility == preemption.PossibilityNoCandidates; err != nil || none != (len(d.Victims) == 0) {
			t.Errorf("%s: forecast %v, %v", c.name, f, err)
		}
	}
}
