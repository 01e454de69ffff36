package witness_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
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
