package preemption_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// A state, request or configuration that is not valid is a fault, each with its path.
func TestVerifyRefusesBadInput(t *testing.T) {
	r := pending("a", 10, 4)
	wantFaults(t, preemption.Verify(small, r, preemption.Config{}, preemption.Decision{}), "decision.outcome")
	r.MinCounts = []preemption.Replicas{{PodSet: "main", Count: 2}}
	for _, n := range []int64{1, 5} { // of 4, at least 2
		d := decide(t, snapshotOf(t, small), r)
		d.Counts = []preemption.Replicas{{PodSet: "main", Count: n}}
		wantFaults(t, preemption.Verify(small, r, preemption.Config{}, d), "decision.counts")
	}
	r.MinCounts = nil
	r.Workload.ID, r.Workload.Queue, r.Now = "", "nowhere", r.Now.AddDate(4000, 0, 0)
	st := small
	st.Admitted = []workload.Workload{job("a1", "gone", 0, -4, started(5))}
	wantFaults(t, preemption.Verify(st, r, preemption.Config{MaxBlockers: -1}, preemption.Decision{}),
		"config.MaxBlockers", "request.workload.id", "request.workload.queue", "request.now",
		"admitted.podSets[0].count", "admitted")
}
