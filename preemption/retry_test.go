package preemption_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// The answer to "when": the end of the time of the one that is needed, not of the first.
func TestRetryAt(t *testing.T) {
	st := shared(time.Hour, job("first", "a", 10, 2, started(50)), job("second", "a", 10, 2, started(30)))
	for _, c := range []struct {
		gpus    int64
		minutes int // until the retry
	}{{2, 10}, {3, 30}} {
		d := decide(t, snapshotOf(t, st), at(0, c.gpus))
		want := now.Add(time.Duration(c.minutes)*time.Minute + 1)
		if d.Outcome != preemption.Wait || !d.RetryAt.Equal(want) || len(d.Shortage) != 1 {
			t.Errorf("%d GPUs: %+v, want to wait until %v", c.gpus, d, want)
		}
		if len(d.Blockers) != 1 || d.Blockers[0].Workload != "second" || !d.Blockers[0].Until.Equal(now.Add(30*time.Minute)) {
			t.Errorf("%d GPUs: blockers %+v", c.gpus, d.Blockers)
		}
	}
	if d := decide(t, snapshotOf(t, st), at(0, 5)); d.Outcome != preemption.Impossible || !d.RetryAt.IsZero() {
		t.Errorf("more than there is: %+v", d)
	}
}

// Out of steps, the answer is an instant that is later than now and never too late.
func TestRetryAtOutOfSteps(t *testing.T) {
	// Queue b borrows 1. The small one comes first and is not enough; without it b is within
	// its quota, so that the large one, which alone would be, is not taken. Impossible at
	// every instant, though there is enough to take.
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "c", Quotas: gpus(4), Preemption: reclaims},
			{Name: "b", Cohort: "c", Quotas: gpus(8), MinRuntime: minruntime.Settings{Reclaim: quota.Some(time.Hour)}},
			{Name: "other", Cohort: "c"},
		},
		Admitted: []workload.Workload{
			job("small", "b", 0, 3, started(30)), job("large", "b", 1, 5, started(20)), job("last", "b", 2, 1, started(10)),
			job("also vip", "other", 20, 3, started(10)),
		},
	}
	s := snapshotOf(t, st)
	if d := decide(t, s, pending("a", 10, 4)); d.Outcome != preemption.Impossible {
		t.Errorf("%+v", d)
	}
	d, err := preemptorOf(preemption.Config{MaxRetrySteps: 1}).Decide(s, pending("a", 10, 4))
	if want := started(-50).Add(1); err != nil || d.Outcome != preemption.Wait || !d.RetryAt.Equal(want) {
		t.Errorf("%+v, %v, want to wait until %v", d, err, want)
	}
	at := pending("a", 10, 4)
	at.Now = d.RetryAt
	if d := decide(t, s, at); d.Outcome != preemption.Impossible {
		t.Errorf("at that instant: %+v", d)
	}
}

// A failed trial of one instant does not change the trials of later ones. The cohort "child" borrows
// 1. Without the small one it is within its quota, so that the preemptor needs that of queue d;
// its queues, looked at one by one, would have enough before.
func TestRetryAtAfterTrialsInVain(t *testing.T) {
	policy := reclaims
	policy.BorrowWithinCohort.Policy = queue.LowerPriority
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "child", Parent: "root", Quotas: gpus(8)}, {Name: "root", Quotas: gpus(5)}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "root", Preemption: policy}, {Name: "b1", Cohort: "child"}, {Name: "b2", Cohort: "child"},
			{Name: "d", Cohort: "root"}, {Name: "vip", Cohort: "root"},
		},
		Admitted: []workload.Workload{
			job("small", "b1", 0, 3, started(30)), job("large", "b2", 1, 5, started(20)), job("last", "b2", 2, 1, started(10)),
			job("later", "d", 3, 1, started(5)), job("vip1", "vip", 20, 3, started(5)),
		},
	}
	config := preemption.Config{MinRuntime: minruntime.Defaults{Reclaim: quota.Some(time.Hour)}}
	s, r := snapshotOf(t, st), pending("a", 10, 4)
	d := decideWith(t, config, s, r)
	if want := started(5).Add(time.Hour + 1); d.Outcome != preemption.Wait || !d.RetryAt.Equal(want) {
		t.Errorf("%v until %v, want to wait until %v", d.Outcome, d.RetryAt, want)
	}
	r.Now = started(5).Add(time.Hour + 1)
	wantText(t, text(decideWith(t, config, s, r)), "Preempt: later InCohortReclaimWhileBorrowing, small InCohortReclaimWhileBorrowing", "then")
}

// The end of a guard is the time of the surplus; the rest is kept by its minimum runtime.
func TestRetryAtOfGuardedSurplus(t *testing.T) {
	w := job("elastic", "a", 0, 0, started(10))
	w.PodSets[0].Count, w.PodSets[0].MinCount = 4, workload.AtLeast(2)
	w.PodSets = append(w.PodSets, w.PodSets[0])
	w.PodSets[1].Name = "more"
	q := queue.Queue{
		Name: "a", Quotas: gpus(8), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority},
		MinRuntime: minruntime.Settings{Preempt: quota.Some(time.Hour)},
	}
	s := snapshotOf(t, preemption.State{Queues: []queue.Queue{q}, Admitted: []workload.Workload{w}})
	guard := keepsUntil(now.Add(5 * time.Minute))
	for gpus, want := range map[int64]time.Time{4: now.Add(5*time.Minute + 1), 5: started(10).Add(time.Hour + 1)} {
		d := decideWith(t, preemption.Config{Guards: []preemption.Guard{guard}}, s, pending("a", 10, gpus))
		if d.Outcome != preemption.Wait || !d.RetryAt.Equal(want) {
			t.Errorf("%d: %v until %v, want to wait until %v", gpus, d.Outcome, d.RetryAt, want)
		}
	}
}

// keepsUntil is a guard of everybody, with an end.
type keepsUntil time.Time

func (k keepsUntil) Verdict(workload.Workload, preemption.Request) preemption.Verdict {
	return preemption.ProtectedUntil(time.Time(k))
}

// Where the own queue's policy permits lower priorities only, equals are no reason to ask
// again: the time is that of the protected workload of lower priority.
func TestRetryAtOfLowerPriority(t *testing.T) {
	st := shared(0, job("low", "a", 0, 2, started(5)), job("equal", "a", 10, 2, started(1)))
	st.Queues[0].Preemption.WithinClusterQueue = queue.LowerPriority
	r := pending("a", 10, 2)
	r.Workload.Queued = started(60)
	config := preemption.Config{MinRuntime: minruntime.Defaults{Preempt: quota.Some(10 * time.Minute)}}
	d := decideWith(t, config, snapshotOf(t, st), r)
	if want := now.Add(5*time.Minute + 1); d.Outcome != preemption.Wait || !d.RetryAt.Equal(want) {
		t.Errorf("%v until %v, want until %v", d.Outcome, d.RetryAt, want)
	}
}

// Time may help the attempt without borrowing alone: it permits b's workload, whose priority
// is higher, once that is not protected.
func TestRetryAtWithoutBorrowing(t *testing.T) {
	policy := queue.PreemptionPolicy{
		WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any,
		BorrowWithinCohort: queue.BorrowWithinCohort{Policy: queue.LowerPriority},
	}
	st := preemption.State{
		Cohorts:  []queue.Cohort{{Name: "c"}},
		Queues:   []queue.Queue{{Name: "a", Cohort: "c", Quotas: gpus(4), Preemption: policy}, {Name: "b", Cohort: "c", Quotas: gpus(0)}},
		Admitted: []workload.Workload{job("own", "a", 0, 2, started(60)), job("high", "b", 20, 2, started(5))},
	}
	config := preemption.Config{MinRuntime: minruntime.Defaults{Reclaim: quota.Some(10 * time.Minute)}}
	d := decideWith(t, config, snapshotOf(t, st), pending("a", 10, 4))
	if want := now.Add(5*time.Minute + 1); d.Outcome != preemption.Wait || !d.RetryAt.Equal(want) {
		t.Errorf("%v until %v, want until %v", d.Outcome, d.RetryAt, want)
	}
}

// A trial that fails although the bound let it be made leaves nothing behind: the cohort of b, d and
// e borrows 2, so that only one of them may yield, and c is needed, too.
func TestRetryAtAfterABoundThatFits(t *testing.T) {
	policy := queue.PreemptionPolicy{ReclaimWithinCohort: queue.LowerPriority, BorrowWithinCohort: queue.BorrowWithinCohort{Policy: queue.LowerPriority}}
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "top", Quotas: gpus(2)}, {Name: "low", Parent: "top", Quotas: gpus(4)}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "top", Quotas: gpus(1), Preemption: policy}, {Name: "b", Cohort: "low"}, {Name: "c", Cohort: "top"},
			{Name: "d", Cohort: "low"}, {Name: "e", Cohort: "low"},
		},
		Admitted: []workload.Workload{
			job("b1", "b", 0, 2, started(50)), job("c1", "c", 0, 1, started(30)), job("d1", "d", 0, 2, started(40)), job("e1", "e", 0, 2, started(35)),
		},
	}
	config := preemption.Config{MinRuntime: minruntime.Defaults{Reclaim: quota.Some(time.Hour)}}
	r := pending("a", 5, 3)
	d := decideWith(t, config, snapshotOf(t, st), r)
	if want := started(30).Add(time.Hour + 1); d.Outcome != preemption.Wait || !d.RetryAt.Equal(want) {
		t.Errorf("%v, retry at %v, want %v", d.Outcome, d.RetryAt, want)
	}
}

// The surplus of an elastic workload is a part of it, not more: here both workloads have to
// go, and the later end counts.
func TestRetryAtCountsSurplusOnce(t *testing.T) {
	first, second := job("first", "a", 0, 0, started(30)), job("second", "a", 1, 4, started(10))
	first.PodSets[0].Count, first.PodSets[0].Requests[0].Amount, first.PodSets[0].MinCount = 4, 1, workload.AtLeast(2)
	q := queue.Queue{
		Name: "a", Quotas: gpus(8), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority},
		MinRuntime: minruntime.Settings{Preempt: quota.Some(time.Hour)},
	}
	s := snapshotOf(t, preemption.State{Queues: []queue.Queue{q}, Admitted: []workload.Workload{first, second}})
	var asked []string
	for _, guards := range [][]preemption.Guard{nil, {recorder{&asked, -1}}} {
		d := decideWith(t, preemption.Config{Guards: guards}, s, pending("a", 10, 6))
		if want := started(10).Add(time.Hour + 1); d.Outcome != preemption.Wait || !d.RetryAt.Equal(want) {
			t.Errorf("%d guards: %v until %v, want to wait until %v", len(guards), d.Outcome, d.RetryAt, want)
		}
	}
}

// The time of an equal without reservation is never over: it counts as reserved just now.
func TestUnreservedEqualsNeverExpire(t *testing.T) {
	old := job("old", "a", 10, 4, started(90))
	old.ReservedAt = time.Time{}
	for _, evicted := range []bool{false, true} {
		old.Evicted = evicted
		d := decide(t, snapshotOf(t, shared(time.Hour, old)), at(0, 4))
		if d.Outcome != preemption.Impossible || !d.RetryAt.IsZero() {
			t.Errorf("evicted %v: %v until %v", evicted, d.Outcome, d.RetryAt)
		}
	}
}

// "At that instant the request fits or preempts": a cost that grows with time is that of the instant, also
// where flavors are assigned anew.
func TestRetryAtWithACostThatGrows(t *testing.T) {
	record := readJSON[preemption.Record](t, "flavors-best-limits.json")
	for _, cost := range []preemption.Cost{preemption.CostByAge{}, preemption.CostSinceCheckpoint{}} {
		config := preemption.Config{
			Search: preemption.Best, Cost: cost, Best: preemption.BestSearch{FewestFirst: true},
			Limits: []limits.Limit{{Name: "l0", Scope: limits.Global, Limit: 2, Window: quota.Some(4 * time.Minute)}},
		}
		s, r := snapshotOf(t, record.State), *record.Request
		d := decideWith(t, config, s, r)
		if d.Outcome != preemption.Wait {
			continue
		}
		r.Now = d.RetryAt
		if at := decideWith(t, config, s, r); !at.Possible() {
			t.Errorf("%T: Wait until %v, and then %v", cost, d.RetryAt, at.Outcome)
		}
	}
}

// What leaves is awaited whatever a guard says of it, and the usage of local queues orders candidates otherwise than their
// priorities do: RetryAt was too late, or Impossible.
func TestRetryAtIsNotTooLate(t *testing.T) {
	guard := preemptiontest.ByUID{Never: "none", Until: "u1", Time: now.Add(30 * time.Minute)}
	for _, c := range []struct {
		about, record string
		config        preemption.Config
		want          time.Time
	}{
		{"an evicted equal under a guard", leavesUnderGuard, preemption.Config{Guards: []preemption.Guard{guard}}, now.Add(5*time.Minute + 1)},
		{"protected workloads in the order of local queues", ofLocalQueues, preemption.Config{}, now.Add(10*time.Minute + 1)},
	} {
		record := must(preemption.ParseRecord([]byte(c.record)))(t)
		s, r := snapshotOf(t, record.State), *record.Request
		if d := decideWith(t, c.config, s, r); d.Outcome != preemption.Wait || !d.RetryAt.Equal(c.want) {
			t.Errorf("%s: %v, %v, want %v", c.about, d.Outcome, d.RetryAt, c.want)
		}
		if r.Now = c.want; !decideWith(t, c.config, s, r).Possible() {
			t.Errorf("%s: it does not succeed then", c.about)
		}
	}
}

const (
	leavesUnderGuard = `{"state":{"queues":[
  {"name":"a","quotas":[{"flavor":"f","resource":"cpu","nominal":1}],"preemption":{"withinClusterQueue":"LowerOrNewerEqualPriority","minAdmitDuration":"10m0s"}}],
 "admitted":[
  {"id":"w","uid":"u1","queue":"a","queued":"2026-01-01T11:00:00Z","reservedAt":"2026-01-01T11:55:00Z","evicted":true,"podSets":[{"name":"main","count":1,"requests":[{"flavor":"f","resource":"cpu","amount":1}]}]}]},
 "request":{"workload":{"id":"p","queue":"a","queued":"2026-01-01T11:30:00Z","podSets":[{"name":"main","count":1,"requests":[{"flavor":"f","resource":"cpu","amount":1}]}]},"now":"2026-01-01T12:00:00Z"}}`
	ofLocalQueues = `{"state":{"cohorts":[
  {"name":"c","reserved":[{"flavor":"f","resource":"cpu","amount":5}]}],
 "queues":[
  {"name":"a","cohort":"c","quotas":[{"flavor":"f","resource":"cpu","nominal":4}],"preemption":{"reclaimWithinCohort":"Any"}},
  {"name":"b","cohort":"c","quotas":[{"flavor":"f","resource":"cpu","nominal":6}],"minRuntime":{"reclaim":"20m0s"}}],
 "admitted":[
  {"id":"w01","queue":"b","localQueue":"much","priority":1,"reservedAt":"2026-01-01T11:50:00Z","podSets":[{"name":"main","count":1,"requests":[{"flavor":"f","resource":"cpu","amount":2}]}]},
  {"id":"w02","queue":"b","priority":1,"reservedAt":"2026-01-01T11:00:00Z","podSets":[{"name":"main","count":3,"minCount":3,"requests":[{"flavor":"f","resource":"cpu","amount":1}]}]},
  {"id":"w07","queue":"b","reservedAt":"2026-01-01T11:45:00Z","podSets":[{"name":"main","count":1,"requests":[{"flavor":"f","resource":"cpu","amount":4}]}]}]},
 "request":{"workload":{"id":"p","queue":"a","podSets":[{"name":"main","count":1,"requests":[{"flavor":"f","resource":"cpu","amount":1}]}]},"localQueueUsage":[{"localQueue":"much","usage":1}],"now":"2026-01-01T12:00:00Z"}}`
)
