package preemption_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// protect draws, sometimes, a protection and when each workload was admitted.
func protect(t *rapid.T, c *preemption.Config, st *preemption.State) {
	if rapid.IntRange(0, 2).Draw(t, "protect") > 0 {
		return
	}
	minutes := func(name string, of ...int) time.Duration {
		return time.Duration(rapid.SampledFrom(of).Draw(t, name)) * time.Minute
	}
	c.Protection = minruntime.Protection{
		Preempt: minutes("preempt", 20, 0, 10, 35), Reclaim: minutes("reclaim", 20, 0, 10, 35), FairSharing: minutes("shares", 20, 0, 10, 35),
		From: rapid.SampledFrom([]minruntime.Start{minruntime.Admission, minruntime.Reservation}).Draw(t, "from"),
	}
	st.Admitted = slices.Clone(st.Admitted)
	for i := range st.Admitted {
		w := &st.Admitted[i]
		switch after := minutes("admitted after", 0, 5, -5); {
		case after < 0:
			w.AdmittedAt = time.Time{}
		case w.ReservedAt.IsZero():
			w.AdmittedAt = preemptiontest.Now.Add(-after)
		default:
			w.AdmittedAt = w.ReservedAt.Add(after)
		}
	}
}

// The durations hold for strictly less, by the reason, and the later of protection and minimum
// runtime holds.
func TestProtectionByReason(t *testing.T) {
	const held = 10 * time.Minute
	own := minruntime.Protection{Preempt: held}
	reclaim := minruntime.Protection{Reclaim: held}
	shares := minruntime.Protection{FairSharing: held}
	every := minruntime.Protection{Preempt: held, Reclaim: held, FairSharing: held}
	reserved := every
	reserved.From = minruntime.Reservation
	for _, c := range []struct {
		name       string
		protection minruntime.Protection
		minimum    time.Duration // of the borrower's queue, against reclaim
		fair       bool
		from       string // the queue of the one that runs
		priority   int64
		asks       int64
		admitted   int // minutes before now
		reserved   int
		evicted    bool
		want       preemption.Outcome
		retry      time.Duration // after now
		setBy      string
	}{
		{name: "own queue, strictly less", protection: own, from: "a", asks: 4, admitted: 9, reserved: 20, want: preemption.Wait, retry: time.Minute, setBy: "protection"},
		{name: "own queue, at the end", protection: own, from: "a", asks: 4, admitted: 10, reserved: 20, want: preemption.Preempt},
		{name: "own queue, by other reasons", protection: minruntime.Protection{Reclaim: held, FairSharing: held}, from: "a", asks: 4, want: preemption.Preempt},
		{name: "reclaim", protection: reclaim, from: "b", asks: 2, admitted: 4, reserved: 20, want: preemption.Wait, retry: 6 * time.Minute, setBy: "protection"},
		{name: "reclaim, by other reasons", protection: minruntime.Protection{Preempt: held, FairSharing: held}, from: "b", asks: 2, want: preemption.Preempt},
		{name: "from the reservation", protection: reserved, from: "b", asks: 2, admitted: 4, reserved: 7, want: preemption.Wait, retry: 3 * time.Minute, setBy: "protection"},
		{name: "from the reservation, for a nanosecond", protection: minruntime.Protection{Reclaim: 1, From: minruntime.Reservation}, from: "b", asks: 2, want: preemption.Wait, retry: 1, setBy: "protection"},
		{name: "own queue, from the reservation, for a nanosecond", protection: minruntime.Protection{Preempt: 1, From: minruntime.Reservation}, from: "a", asks: 4, want: preemption.Wait, retry: 1, setBy: "protection"},
		{name: "evicted", protection: every, from: "b", asks: 2, evicted: true, want: preemption.Preempt},
		{name: "not admitted", protection: every, from: "b", asks: 2, admitted: -1, want: preemption.Preempt},
		{name: "the minimum runtime is longer", protection: reclaim, minimum: time.Hour, from: "b", asks: 2, admitted: 4, reserved: 7, want: preemption.Wait, retry: 53*time.Minute + 1, setBy: `queue "b"`},
		{name: "the minimum runtime is shorter", protection: reclaim, minimum: 8 * time.Minute, from: "b", asks: 2, admitted: 4, reserved: 7, want: preemption.Wait, retry: 6 * time.Minute, setBy: "protection"},
		{name: "entitled: reclaim, on the fair path too", protection: reclaim, fair: true, from: "b", asks: 2, want: preemption.Wait, retry: held, setBy: "protection"},
		{name: "entitled: no strategy", protection: shares, fair: true, from: "b", asks: 2, want: preemption.Preempt},
		{name: "by shares", protection: shares, fair: true, from: "b", asks: 3, want: preemption.Wait, retry: held, setBy: "protection"},
		{name: "by shares: no reclaim", protection: reclaim, fair: true, from: "b", asks: 3, want: preemption.Preempt},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := job("w", c.from, -1, 4, started(c.reserved))
			if w.AdmittedAt = started(c.admitted); c.admitted < 0 {
				w.AdmittedAt = time.Time{}
			}
			w.Evicted = c.evicted
			policy := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}
			st := preemption.State{
				Cohorts: []queue.Cohort{{Name: "all"}},
				Queues: []queue.Queue{
					{Name: "a", Cohort: "all", Quotas: gpus(2), Preemption: policy},
					{Name: "b", Cohort: "all", Quotas: gpus(0)},
					{Name: "lender", Cohort: "all", Quotas: gpus(2)},
				},
				Admitted: []workload.Workload{w},
			}
			if c.minimum > 0 {
				st.Queues[1].MinRuntime.Reclaim = quota.Some(c.minimum)
			}
			config := preemption.Config{Protection: c.protection}
			if c.fair {
				config.Sharing = preemption.Fair
			}
			r := pending("a", 0, c.asks)
			d := decideWith(t, config, snapshotOf(t, st), r)
			if d.Outcome != c.want || c.want == preemption.Wait && !d.RetryAt.Equal(now.Add(c.retry)) {
				t.Fatalf("%v until %v, want %v until %v", d.Outcome, d.RetryAt, c.want, now.Add(c.retry))
			}
			if c.want == preemption.Wait && (len(d.Blockers) != 1 || d.Blockers[0].Rule != preemption.RuleMinRuntime || d.Blockers[0].SetBy != c.setBy) {
				t.Errorf("blockers %+v, want one set by %s", d.Blockers, c.setBy)
			}
			verified(t, st, r, config, d)
		})
	}
}

// All that is wrong with a protection is reported.
func TestProtectionIsValidated(t *testing.T) {
	_, err := preemption.New(preemption.Config{Protection: minruntime.Protection{Preempt: -1, Reclaim: -2, FairSharing: -3, From: 7}})
	const want = "config.Protection.Preempt: -1ns is negative; config.Protection.Reclaim: -2ns is negative; " +
		"config.Protection.FairSharing: -3ns is negative; config.Protection.From: Start(7) is unknown"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
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
		wantText(t, text(decide(t, snapshotOf(t, alone), pending("a", 10, 4))), c.own, "%+v, own queue", c.settings)
		cohort := preemption.State{
			Cohorts:  []queue.Cohort{{Name: "c"}},
			Queues:   []queue.Queue{{Name: "a", Cohort: "c", Quotas: gpus(4), Preemption: policy}, {Name: "b", Cohort: "c", MinRuntime: c.settings}},
			Admitted: []workload.Workload{job("b1", "b", 0, 4, started(1))},
		}
		wantText(t, text(decide(t, snapshotOf(t, cohort), pending("a", 10, 4))), c.another, "%+v, another queue", c.settings)
	}
}
