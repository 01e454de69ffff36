package preemption_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// shared is a queue of 4 GPUs whose equals may be preempted after the duration, and what
// runs in it.
func shared(after time.Duration, admitted ...workload.Workload) preemption.State {
	q := queue.Queue{Name: "a", Quotas: gpus(4), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerOrNewerEqualPriority}}
	if after > 0 {
		q.Preemption.MinAdmitDuration = minruntime.For(after)
	}
	return preemption.State{Queues: []queue.Queue{q}, Admitted: admitted}
}

// at is a request of so many GPUs so many minutes after now, queued then.
func at(minutes int, gpus int64) preemption.Request {
	r := pending("a", 10, gpus)
	r.Now = now.Add(time.Duration(minutes) * time.Minute)
	r.Workload.Queued, r.Workload.Created = r.Now, r.Now
	return r
}

// KEP-8522, Test Plan, Integration tests: the nine scenarios, quoted. (Of 8, what
// concerns fair sharing comes with fair sharing; of 6, a restart is a State that went
// through JSON.)
func TestKEP8522(t *testing.T) {
	running := func(id string, minutesAgo int) workload.Workload { return job(id, "a", 10, 2, started(minutesAgo)) }
	check := func(scenario string, st preemption.State, r preemption.Request, want string) {
		t.Helper()
		if got := text(decide(t, snapshotOf(t, st), r)); got != want {
			t.Errorf("%s\n got  %s\n want %s", scenario, got, want)
		}
	}

	check("1. Two same-priority workloads competing for quota, first admitted workload is preempted after minAdmitDuration",
		shared(time.Hour, job("first", "a", 10, 4, started(61))), at(0, 4), "Preempt: first InClusterQueueTimeBased")
	check("1. and not before",
		shared(time.Hour, job("first", "a", 10, 4, started(59))), at(0, 4), "Wait: WithinClusterQueue a first")

	// 2. Multiple workloads queued, fair rotation occurs as each exceeds threshold: see
	// TestRotation.

	low := job("low", "a", 9, 2, started(1))
	check("3. Mixed priorities: lower priority always preempted before same-priority",
		shared(time.Hour, running("expired", 90), low), at(0, 2), "Preempt: low InClusterQueue")
	check("3. and both when both are needed",
		shared(time.Hour, running("expired", 90), low), at(0, 4), "Preempt: expired InClusterQueueTimeBased, low InClusterQueue")

	check("4. minAdmitDuration not set: existing behavior preserved",
		shared(0, job("first", "a", 10, 4, started(600))), at(0, 4), "Impossible: WithinClusterQueue a first")

	check("5. Edge case: workload exactly at minAdmitDuration threshold (should NOT be preempted)",
		shared(time.Hour, job("first", "a", 10, 4, started(60))), at(0, 4), "Wait: WithinClusterQueue a first")
	r := at(0, 4)
	r.Now = r.Now.Add(time.Nanosecond)
	check("5. but one nanosecond later",
		shared(time.Hour, job("first", "a", 10, 4, started(60))), r, "Preempt: first InClusterQueueTimeBased")

	restarted := throughJSON(t, preemption.Record{State: shared(time.Hour, job("first", "a", 10, 4, started(30)))}).State
	check("6. Controller restart: workload timestamps persist correctly and preemption timing remains accurate",
		restarted, at(30, 4), "Wait: WithinClusterQueue a first")
	check("6. and after the time", restarted, at(31, 4), "Preempt: first InClusterQueueTimeBased")

	check("7. Multiple workloads expiring simultaneously: deterministic ordering based on longest-running first",
		shared(time.Hour, running("b", 70), running("c", 80)), at(0, 2), "Preempt: c InClusterQueueTimeBased")
	check("7. ties by ID",
		shared(time.Hour, running("d", 80), running("c", 80)), at(0, 2), "Preempt: c InClusterQueueTimeBased")

	lent := shared(time.Hour, job("old", "b", 10, 4, started(600)))
	lent.Cohorts = []queue.Cohort{{Name: "c"}}
	lent.Queues[0].Cohort, lent.Queues[0].Preemption.ReclaimWithinCohort = "c", queue.LowerPriority
	lent.Queues = append(lent.Queues, queue.Queue{Name: "b", Cohort: "c"})
	check("8. time-based preemption only affects withinClusterQueue",
		lent, at(0, 4), "Impossible: ReclaimWithinCohort b old")

	for policy, want := range map[queue.VictimPolicy]string{
		queue.LowerOrNewerEqualPriority: "59s is less than 1m0s",
		queue.LowerPriority:             "needs withinClusterQueue LowerOrNewerEqualPriority, not LowerPriority",
		queue.Never:                     "needs withinClusterQueue LowerOrNewerEqualPriority, not Never",
	} {
		st := shared(59 * time.Second)
		st.Queues[0].Preemption.WithinClusterQueue = policy
		if _, err := preemption.NewSnapshot(st); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("9. Webhook validation: reject minAdmitDuration < 1 minute, reject config when withinClusterQueue is Never or LowerPriority: %v, want %q", err, want)
		}
	}
	if _, err := preemption.NewSnapshot(shared(time.Minute)); err != nil {
		t.Errorf("9. a minute is enough: %v", err)
	}
}

// Preemption order among same-priority candidates: time-expired before newer; of the
// expired the longest running first, of the newer the most recently admitted.
func TestOrderOfEquals(t *testing.T) {
	equal := func(id string, queuedAgo, reservedAgo int) workload.Workload {
		w := job(id, "a", 10, 1, started(reservedAgo))
		w.Queued = started(queuedAgo)
		return w
	}
	// The preemptor was queued 50 minutes ago.
	st := shared(time.Hour, equal("expired-61", 90, 61), equal("expired-newer-65", 40, 65), equal("newer-5", 30, 5), equal("newer-2", 40, 2))
	s := snapshotOf(t, st)
	for gpus, want := range []string{
		1: "expired-newer-65 InClusterQueue", // by age too, so not by expiry alone
		2: "expired-61 InClusterQueueTimeBased, expired-newer-65 InClusterQueue",
		3: "expired-61 InClusterQueueTimeBased, expired-newer-65 InClusterQueue, newer-2 InClusterQueue",
		4: "expired-61 InClusterQueueTimeBased, expired-newer-65 InClusterQueue, newer-2 InClusterQueue, newer-5 InClusterQueue",
	} {
		if gpus == 0 {
			continue
		}
		r := pending("a", 10, int64(gpus))
		r.Workload.Queued = started(50)
		if got := text(decide(t, s, r)); got != "Preempt: "+want {
			t.Errorf("%d: %s, want %s", gpus, got, want)
		}
	}
}

// The feature gate of the KEP: off, the duration is inert.
func TestIgnoreMinAdmitDuration(t *testing.T) {
	p := preemptorOf(preemption.Config{IgnoreMinAdmitDuration: true})
	d, err := p.Decide(snapshotOf(t, shared(time.Hour, job("first", "a", 10, 4, started(600)))), at(0, 4))
	if err != nil || d.Outcome != preemption.Impossible {
		t.Errorf("%v, %v", d, err)
	}
}

// A missing reservation is just now: it has had no time yet.
func TestMissingReservationIsNotExpired(t *testing.T) {
	w := job("unknown", "a", 10, 4, started(600))
	w.ReservedAt = time.Time{}
	if got := text(decide(t, snapshotOf(t, shared(time.Minute, w)), at(0, 4))); got != "Impossible: WithinClusterQueue a unknown" {
		t.Error(got)
	}
}
