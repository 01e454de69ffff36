package preemption_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/reference"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

// RetryAt is the first instant at which the reference succeeds, of all at which anything
// could change; before it the answer is to wait for it, and at it the request succeeds.
func retryAtIsExact(t *rapid.T) {
	checkRetryAt(t, preemptiontest.Records().Draw(t, "record"))
}

// The same where flavors are assigned: at each instant anew.
func retryAtOfAssignedIsExact(t *rapid.T) {
	checkRetryAt(t, preemptiontest.RecordsWithoutFlavors().Draw(t, "record"))
}

func checkRetryAt(t *rapid.T, record preemption.Record) {
	st, r := record.State, *record.Request
	config := preemptiontest.Configs().Draw(t, "config")
	protect(t, &config, &st)
	reevaluate(t, &config)
	p, s := preemptorOf(config), snapshotOf(t, st)
	r.Room = drawRoom(t, st)
	at := func(now time.Time) preemption.Decision {
		r.Now = now
		return must(p.Decide(s, r))(t)
	}
	first := r.Now
	quick := config
	quick.MaxRetrySteps = -1
	if q, full := decideWith(t, quick, s, r), at(r.Now); q.Outcome != full.Outcome && (q.Outcome != preemption.Wait || full.Outcome != preemption.Impossible) || !q.RetryAt.IsZero() {
		t.Fatalf("%+v without RetryAt, %+v with it", q, full)
	}
	d := at(first)
	if d.Possible() {
		if !d.RetryAt.IsZero() {
			t.Fatalf("%v with a time", d.Outcome)
		}
		return
	}
	list := reference.Instants(config, st, r)
	want, _ := reference.RetryAt(config, st, r)
	if !d.RetryAt.Equal(want) || (d.Outcome == preemption.Wait) == want.IsZero() {
		t.Fatalf("%v until %v, by brute force until %v", d.Outcome, d.RetryAt, want)
	}
	if want.IsZero() {
		return
	}
	if !want.After(first) {
		t.Fatalf("asked at %v, to be asked again at %v", first, want)
	}
	between := first.Add(time.Duration(rapid.Int64Range(0, int64(want.Sub(first))-1).Draw(t, "between")))
	for _, now := range append([]time.Time{between, want.Add(-1)}, list...) {
		if now.Before(want) {
			if d := at(now); d.Outcome != preemption.Wait || !d.RetryAt.Equal(want) {
				t.Fatalf("at %v: %v until %v, want to wait until %v", now, d.Outcome, d.RetryAt, want)
			}
		}
	}
	if d := at(want); !d.Possible() {
		t.Fatalf("at %v itself: %v", want, d.Outcome)
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
