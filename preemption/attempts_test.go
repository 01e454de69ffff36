package preemption_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Without borrowWithinCohort, the attempt within nominal quota, which alone may reclaim
// here, is for a queue that is strictly under its nominal quota (as built in Kueue).
func TestAttemptWithinNominal(t *testing.T) {
	for _, c := range []struct {
		name          string
		lent, ours, b int64 // the quota of the cohort itself, what queues a and b use
		asked         int64
		want          string
	}{
		{"under nominal", 0, 2, 2, 2, "Preempt: b1 InCohortReclamation"},
		{"at nominal", 0, 4, 2, 4, "Impossible: BorrowWithinCohort b b1"},
		{"over nominal", 4, 6, 2, 2, "Preempt: a1 InClusterQueue"},
	} {
		st := preemption.State{
			Cohorts: []queue.Cohort{{Name: "c", Quotas: gpus(c.lent)}},
			Queues: []queue.Queue{
				{Name: "a", Cohort: "c", Quotas: gpus(4), Preemption: reclaims}, {Name: "b", Cohort: "c", Quotas: gpus(0)},
			},
			Admitted: []workload.Workload{job("b1", "b", 0, c.b, started(5))},
		}
		for i := range c.ours / 2 {
			st.Admitted = append(st.Admitted, job("a"+string(rune('1'+i)), "a", i, 2, started(5)))
		}
		if got := text(decide(t, snapshotOf(t, st), pending("a", 10, c.asked))); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
