package witness_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/quota"
)

// widen draws what the kit leaves out: protection after the admission, requests of workloads that
// hold quota, and of workloads that come in the place of others.
func widen(t *rapid.T, c *preemption.Config, record *preemption.Record) {
	chance := func(n int) bool { return rapid.IntRange(0, n-1).Draw(t, "chance") == n-1 }
	minutes := func(label string) time.Duration {
		return rapid.SampledFrom([]time.Duration{0, 10, 20, 35}).Draw(t, label) * time.Minute
	}
	st, r := &record.State, record.Request
	if chance(6) {
		c.Protection = minruntime.Protection{Preempt: minutes("preempt"), Reclaim: minutes("reclaim"), FairSharing: minutes("fair")}
		c.Protection.From = rapid.SampledFrom([]minruntime.Start{minruntime.Admission, minruntime.Reservation}).Draw(t, "from")
		for i := range st.Admitted {
			if !chance(4) {
				st.Admitted[i].AdmittedAt = preemptiontest.Now.Add(minutes("reserved before") - minutes("admitted before"))
			}
		}
	}
	if len(st.Admitted) == 0 || !chance(12) {
		return
	}
	other := rapid.SampledFrom(st.Admitted).Draw(t, "other")
	if chance(2) {
		r.Replaces = other.ID
		return
	}
	r.HoldsQuota = true
	r.Workload.ID = other.ID
}

// limit draws limits, and a history that fills them.
func limit(t *rapid.T, q *question) {
	scopes := []limits.Scope{limits.Global, limits.PreemptingClusterQueue, limits.PreemptedClusterQueue, limits.PreemptedWorkload}
	for i := range rapid.IntRange(1, 2).Draw(t, "limits") {
		q.Config.Limits = append(q.Config.Limits, limits.Limit{
			Name: []string{"first", "second"}[i], Scope: rapid.SampledFrom(scopes).Draw(t, "scope"),
			Limit:  rapid.Int64Range(0, 3).Draw(t, "limit"),
			Window: quota.Some(rapid.SampledFrom([]time.Duration{10, 20, 30}).Draw(t, "window") * time.Minute),
		})
	}
	var events []limits.Event
	for _, w := range q.Record.State.Admitted {
		if rapid.IntRange(0, 3).Draw(t, "has an event") > 0 {
			continue
		}
		by := rapid.SampledFrom(q.Record.State.Queues).Draw(t, "preempting").Name
		events = append(events, limits.Event{
			Preemptor: "ns/other", Victim: w.ID, Class: limits.Class{PreemptingQueue: by, PreemptedQueue: w.Queue},
			At: preemptiontest.Now.Add(-rapid.SampledFrom([]time.Duration{10, 0, 5, 20, 25}).Draw(t, "ago") * time.Minute),
		})
	}
	history, err := limits.NewHistory(events)
	if err != nil {
		t.Fatal(err)
	}
	q.Record.Request.History = history
}
