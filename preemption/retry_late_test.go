package preemption_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

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
