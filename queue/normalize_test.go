package queue_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Kueue accepts a lending limit above the nominal quota, limits without a parent and borrowWithinCohort
// beside reclaimWithinCohort Never, and does not look at them. So does Validate after Normalize.
func TestNormalize(t *testing.T) {
	limited := func(nominal int64, borrow, lend int64) queue.Queue {
		q := queue.Queue{Name: "q", Cohort: "c", Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: nominal}}}
		if borrow >= 0 {
			q.Quotas[0].BorrowingLimit = quota.AtMost(borrow)
		}
		if lend >= 0 {
			q.Quotas[0].LendingLimit = quota.AtMost(lend)
		}
		return q
	}
	alone := limited(8, 1, 2)
	alone.Cohort = ""
	never := limited(8, -1, -1)
	never.Preemption.BorrowWithinCohort = queue.BorrowWithinCohort{Policy: queue.LowerPriority, MaxPriorityThreshold: queue.AtMostPriority(5)}
	for _, c := range []struct {
		name string
		in   queue.Queue
		want []queue.Change
	}{
		{"nothing to do", limited(8, 4, 8), nil},
		{"a lending limit above the quota", limited(8, 4, 9), []queue.Change{{"queues[0].quotas[0].lendingLimit", "9", "8", "the limit of f/gpu is more than its nominal quota"}}},
		{"limits without a parent", alone, []queue.Change{
			{"queues[0].quotas[0].borrowingLimit", "1", "", "it has no parent to borrow from or lend to"},
			{"queues[0].quotas[0].lendingLimit", "2", "", "it has no parent to borrow from or lend to"}}},
		{"borrowWithinCohort, and no reclaim", never, []queue.Change{{"queues[0].preemption.borrowWithinCohort", "LowerPriority", "", "reclaimWithinCohort is Never"}}},
	} {
		before := c.in
		before.Quotas = append([]quota.Quota(nil), c.in.Quotas...)
		got, changes := c.in.Normalize("queues[0]")
		if diff := cmp.Diff(c.want, changes); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, diff)
		}
		if !cmp.Equal(before, c.in) {
			t.Errorf("%s: it was changed: %+v", c.name, c.in)
		}
		if err := queue.Validate([]queue.Cohort{{Name: "c"}}, []queue.Queue{got}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if again, more := got.Normalize("queues[0]"); len(more) > 0 || !cmp.Equal(got, again) {
			t.Errorf("%s: once more: %v", c.name, more)
		}
	}
	root := queue.Cohort{Name: "c", Quotas: alone.Quotas}
	got, changes := root.Normalize("cohorts[0]")
	if err := queue.Validate([]queue.Cohort{got}, nil); err != nil || len(changes) != 2 {
		t.Errorf("a root: %v, %v", changes, err)
	}
}
