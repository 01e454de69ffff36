package preemption_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// The quota and the usage of an inactive queue count in its cohort, and nobody preempts from
// it. (As built in Kueue: the cohort of a snapshot holds the quota and the usage of a
// ClusterQueue that is not active, and the ClusterQueue itself is not in the snapshot.)
func TestInactiveQueue(t *testing.T) {
	reclaims := queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "c", Quotas: gpus(4), Preemption: reclaims},
			{Name: "b", Cohort: "c", Quotas: gpus(4), Preemption: reclaims},
		},
	}
	st.Admitted = append(st.Admitted, job("b/large", "b", 0, 6, started(10)))
	for _, c := range []struct {
		name           string
		stopped, asked int // indexes of queues; no queue: -1
		amount         int64
		want           string
	}{
		{"reclaimed from a queue that is active", -1, 0, 4, "Preempt b/large"},
		{"the rest of the cohort's quota is there", 1, 0, 2, "Fits"},
		{"nobody preempts from an inactive queue", 1, 0, 4, "Impossible QueueInactive b"},
		{"a queue that is active uses the quota of one that is not", 0, 1, 2, "Fits"},
		{"nothing in an inactive queue is admitted", 0, 0, 1, "Impossible QueueInactive a"},
	} {
		now := st
		now.Queues = append([]queue.Queue(nil), st.Queues...)
		if c.stopped >= 0 {
			now.Queues[c.stopped].Inactive = true
		}
		s := snapshotOf(t, now)
		r := pending(st.Queues[c.asked].Name, 10, c.amount)
		d := decide(t, s, r)
		got := d.Outcome.String()
		for _, v := range d.Victims {
			got += " " + v.Workload
		}
		for _, b := range d.Blockers {
			got += " " + b.Rule.String() + " " + b.Queue
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		var p *preemption.Preemptor
		f, err := p.Forecast(s, r, quota.Amount{Flavor: "h100", Resource: "gpu", Amount: c.amount})
		if none := f.Possibility == preemption.PossibilityNoCandidates; err != nil || none != (len(d.Victims) == 0) {
			t.Errorf("%s: forecast %v, %v", c.name, f, err)
		}
	}
}
