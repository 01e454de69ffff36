package preemption_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// keepsProgress is the configuration by which victims lose the least of their progress.
var keepsProgress = preemption.Config{
	Search: preemption.Best, Best: preemption.BestSearch{Steps: -1, Candidates: 100}, Cost: preemption.CostSinceCheckpoint{},
}

// yieldTo returns the victims of a request of so many GPUs, in a queue of 8 that are all taken.
func yieldTo(t *testing.T, request int64, running ...workload.Workload) string {
	st := shared(0, running...)
	st.Queues[0].Quotas, st.Queues[0].Cohort = gpus(8), ""
	d := must(preemptorOf(keepsProgress).Decide(snapshotOf(t, st), pending("a", 10, request)))(t)
	return strings.ReplaceAll(text(d), " InClusterQueue", "")
}

// saved is a workload with a checkpoint so many minutes ago.
func saved(w workload.Workload, minutesAgo int) workload.Workload {
	w.Loss.LastCheckpoint = started(minutesAgo)
	return w
}

func TestKeepProgress(t *testing.T) {
	old, young := started(90), started(20)
	for _, c := range []struct {
		rule    string
		request int64
		running []workload.Workload
		want    string
	}{
		{"the one with the latest checkpoint yields, though it started first", 2,
			[]workload.Workload{saved(job("old", "a", 0, 4, old), 1), job("young", "a", 0, 4, young)}, "Preempt: old"},
		{"without checkpoints the youngest yields", 2,
			[]workload.Workload{job("old", "a", 0, 4, old), job("young", "a", 0, 4, young)}, "Preempt: young"},
		{"a workload counts its time alone: a large one yields rather than two small ones that lose more together", 2,
			[]workload.Workload{saved(job("large", "a", 0, 6, old), 15), saved(job("x", "a", 0, 1, young), 10), saved(job("y", "a", 0, 1, young), 10)}, "Preempt: large"},
		{"small ones yield if they lose less together", 2,
			[]workload.Workload{saved(job("large", "a", 0, 6, old), 15), saved(job("x", "a", 0, 1, young), 5), saved(job("y", "a", 0, 1, young), 5)}, "Preempt: x, y"},
		{"a lower priority yields first, however much it loses", 2,
			[]workload.Workload{job("low", "a", 0, 4, old), saved(job("high", "a", 5, 4, old), 1)}, "Preempt: low"},
	} {
		if got := yieldTo(t, c.request, c.running...); got != c.want {
			t.Errorf("%s: got %q, want %q", c.rule, got, c.want)
		}
	}
}

// The time of a restart counts as time lost.
func TestKeepProgressCountsRestarts(t *testing.T) {
	slow := saved(job("slow", "a", 0, 4, started(90)), 5)
	slow.Loss.Restart = quota.Some(30 * time.Minute)
	if got := yieldTo(t, 2, slow, saved(job("fast", "a", 0, 4, started(90)), 10)); got != "Preempt: fast" {
		t.Errorf("got %q", got)
	}
}
