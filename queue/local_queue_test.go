package queue_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

func TestDecayedUsage(t *testing.T) {
	for _, c := range []struct {
		before, held      float64
		elapsed, halfLife time.Duration
		want              float64
	}{
		{8, 0, time.Hour, time.Hour, 4},
		{8, 0, 3 * time.Hour, time.Hour, 1},
		{0, 8, time.Hour, time.Hour, 4},
		{8, 8, time.Minute, time.Hour, 8},
		{8, 2, 0, time.Hour, 8},
		{8, 2, -time.Hour, time.Hour, 8},
		{8, 2, time.Hour, 0, 0},
		{8, 2, math.MaxInt64, 1, 2},
	} {
		if got := queue.DecayedUsage(c.before, c.held, c.elapsed, c.halfLife); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// It makes no difference in how many steps the time passes; the usage moves towards what is
// held and not past it; more before is no less after.
func TestDecayLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, more := rapid.Float64Range(0, 1e9).Draw(t, "before"), rapid.Float64Range(0, 1e9).Draw(t, "more")
		held := rapid.Float64Range(0, 1e9).Draw(t, "held")
		a := time.Duration(rapid.Int64Range(0, int64(100*time.Hour)).Draw(t, "a"))
		b := time.Duration(rapid.Int64Range(0, int64(100*time.Hour)).Draw(t, "b"))
		half := time.Duration(rapid.Int64Range(1, int64(24*time.Hour)).Draw(t, "half-life"))
		once := queue.DecayedUsage(before, held, a+b, half)
		twice := queue.DecayedUsage(queue.DecayedUsage(before, held, a, half), held, b, half)
		const slack = 1e-6
		if math.Abs(once-twice) > slack {
			t.Fatalf("%v in one step, %v in two", once, twice)
		}
		if once < min(before, held)-slack || once > max(before, held)+slack {
			t.Fatalf("%v is not between %v and %v", once, before, held)
		}
		if queue.DecayedUsage(before+more, held, a, half) < queue.DecayedUsage(before, held, a, half) {
			t.Fatal("more before is less after")
		}
	})
}

// minAdmit validates a queue with this policy in its own queue and this duration.
func minAdmit(within queue.VictimPolicy, d quota.OptionalDuration) error {
	return queue.Validate(nil, []queue.Queue{{
		Name: "q", Quotas: []quota.Quota{cpu(4)},
		Preemption: queue.PreemptionPolicy{WithinClusterQueue: within, MinAdmitDuration: d},
	}})
}

// KEP-8522, Webhook Validation: "Values less than 1 minute (including explicit 0s and negative
// values) are rejected with an error".
func TestMinAdmitDurationIsAMinuteOrMore(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second:    `queues[0].preemption.minAdmitDuration: -1s is less than 1m0s (queue "q")`,
		0:               `queues[0].preemption.minAdmitDuration: 0s is less than 1m0s (queue "q")`,
		time.Minute - 1: `queues[0].preemption.minAdmitDuration: 59.999999999s is less than 1m0s (queue "q")`,
		time.Minute:     "",
		time.Hour:       "",
	} {
		err := minAdmit(queue.LowerOrNewerEqualPriority, quota.Some(d))
		if got := text(err); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

// The same, 3: "withinClusterQueueConfig is only valid when withinClusterQueue is
// LowerOrNewerEqualPriority." Without a duration each policy is valid.
func TestMinAdmitDurationNeedsItsPolicy(t *testing.T) {
	for _, within := range []queue.VictimPolicy{queue.Never, queue.LowerPriority} {
		want := `queues[0].preemption.minAdmitDuration: 1h0m0s needs withinClusterQueue LowerOrNewerEqualPriority, not ` +
			within.String() + ` (queue "q")`
		if got := text(minAdmit(within, quota.Some(time.Hour))); got != want {
			t.Errorf("%v: %q, want %q", within, got, want)
		}
	}
	for _, within := range []queue.VictimPolicy{queue.Never, queue.LowerPriority, queue.LowerOrNewerEqualPriority} {
		if err := minAdmit(within, quota.OptionalDuration{}); err != nil {
			t.Errorf("%v without a duration: %v", within, err)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

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
