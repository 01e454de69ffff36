package preemption_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Costs that add up to more than an int64 holds do not decide: the next points of the
// objective do. The law of the best set found this state.
func TestBestCostsThatSaturate(t *testing.T) {
	data := must(os.ReadFile("testdata/best-saturates.json"))(t)
	record := must(preemption.ParseRecord(data))(t)
	config := preemption.Config{Search: preemption.Best, MaxRetrySteps: -1, Cost: preemption.CostByAge{Resources: []string{"cpu", "gpu"}}}
	d := decideWith(t, config, snapshotOf(t, record.State), *record.Request)
	var got []string
	for _, v := range d.Victims {
		got = append(got, fmt.Sprint(v.Workload, v.Replicas))
	}
	if want := "[ns/w00[] ns/w03[{second 1 0}]]"; fmt.Sprint(got) != want || !d.Proof.Optimal {
		t.Errorf("%v, proof %+v; want %s", got, d.Proof, want)
	}
}

// The initial share of a side is that before its last victim, and not every victim can be the
// last: without "large" its queue does not borrow, so that "small" cannot go after it.
// Against the share before "large" goes, the request has no right.
func TestBestLastVictimOfASide(t *testing.T) {
	two := func(cpu, gpu int64) []quota.Quota {
		return []quota.Quota{{Flavor: "f", Resource: "cpu", Nominal: cpu}, {Flavor: "f", Resource: "gpu", Nominal: gpu}}
	}
	uses := func(id, queue string, cpu, gpu int64) workload.Workload {
		w := job(id, queue, 0, 1, started(5))
		w.PodSets[0].Requests = []quota.Amount{{Flavor: "f", Resource: "cpu", Amount: cpu}, {Flavor: "f", Resource: "gpu", Amount: gpu}}
		return w
	}
	for _, at := range [][2]time.Time{{started(5), started(6)}, {started(6), started(5)}} {
		st := preemption.State{
			Cohorts: []queue.Cohort{{Name: "co"}, {Name: "side", Parent: "co", FairWeight: quota.WeightOf(0.5)}},
			Queues: []queue.Queue{
				{Name: "a", Cohort: "co", Quotas: two(2, 10), Preemption: fairPolicy}, {Name: "b", Cohort: "side", Quotas: two(3, 9)}, {Name: "c", Cohort: "side"},
			},
		}
		stays := uses("stays", "c", 0, 9)
		stays.NeverYields = true
		small, large := uses("small", "b", 1, 9), uses("large", "b", 4, 0)
		small.ReservedAt, large.ReservedAt = at[0], at[1]
		st.Admitted = []workload.Workload{small, large, stays}
		config := preemption.Config{Sharing: preemption.Fair, Search: preemption.Best, Strategies: []preemption.FairStrategy{preemption.LessThanInitialShare}}
		r := pending("a", 1, 1)
		r.Workload = uses("pending", "a", 5, 10)
		if d := decideWith(t, config, snapshotOf(t, st), r); d.Outcome != preemption.Impossible {
			t.Errorf("%s, want Impossible", text(d))
		}
	}
}

// RetryAt is not later than the first instant at which a set is allowed, however few steps there
// are: a trial that uses them up may have succeeded.
func TestBestRetryAtWithFewSteps(t *testing.T) {
	policy := queue.PreemptionPolicy{ReclaimWithinCohort: queue.LowerPriority, BorrowWithinCohort: queue.BorrowWithinCohort{Policy: queue.LowerPriority}}
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "co", Quotas: gpus(2)}},
		Queues:  []queue.Queue{{Name: "a", Cohort: "co", Quotas: gpus(2), Preemption: policy}, {Name: "b", Cohort: "co", Quotas: gpus(4)}},
		// After "small" its queue borrows no more, and "large" stays: the search in order fails.
		Admitted: []workload.Workload{job("small", "b", 0, 1, started(90)), job("large", "b", 1, 4, started(30))},
	}
	want := started(30).Add(time.Hour + 1)
	for _, steps := range []int{0, 1, 2, 3, 10} {
		config := preemption.Config{
			Search: preemption.Best, Best: preemption.BestSearch{Steps: steps},
			MinRuntime: minruntime.Defaults{Reclaim: quota.Some(time.Hour)},
		}
		r := pending("a", 5, 5)
		d := decideWith(t, config, snapshotOf(t, st), r)
		if d.Outcome != preemption.Wait || !d.RetryAt.Equal(want) {
			t.Errorf("%d steps: %s at %v, want Wait until %v", steps, text(d), d.RetryAt, want)
		}
		verified(t, st, r, config, d)
	}
}

func TestSearchIsValidated(t *testing.T) {
	for _, c := range []struct {
		config preemption.Config
		path   string
	}{
		{preemption.Config{Search: 2}, "config.Search"},
		{preemption.Config{Best: preemption.BestSearch{FewestFirst: true}}, "config.Best"},
		{preemption.Config{Search: preemption.Best, Best: preemption.BestSearch{Steps: -1, Candidates: -1}}, "config.Best.Candidates"},
		{preemption.Config{Search: preemption.Best, Best: preemption.BestSearch{Candidates: 9}}, "config.Best.Candidates"},
	} {
		_, err := preemption.New(c.config)
		if faults, ok := err.(fault.List); !ok || len(faults) != 1 || faults[0].Path != c.path {
			t.Errorf("%+v: %v, want a fault at %s", c.config, err, c.path)
		}
	}
}

// A sum of costs beyond the highest number is that number, before an exchange and after it: an
// exchange that leaves the sum there is no better, one that brings it back is.
func TestExchangeOfSaturatedCosts(t *testing.T) {
	const half = math.MaxInt64/2 + 1
	of := func(id string, cost int64, minutes int) workload.Workload {
		w := job(id, "a", 0, 1, started(minutes))
		w.Loss.PerReplica = cost
		return w
	}
	st := preemption.State{
		Queues: []queue.Queue{{Name: "a", Quotas: gpus(4), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}},
	}
	for _, c := range []struct {
		w, x int64
		want string
	}{
		{half, half, "[v1 v2]"},
		{math.MaxInt64, half + 1, "[v1 v2]"},
		{half - 2, half, "[v2 w]"},
		{1, 0, "[w x]"},
	} {
		st.Admitted = []workload.Workload{of("v1", half, 1), of("v2", half, 2), of("w", c.w, 9), of("x", c.x, 9)}
		config := preemption.Config{Search: preemption.Best, Best: preemption.BestSearch{Steps: -1}, Cost: preemption.CostDeclared{}}
		if got := fmt.Sprint(ids(decideWith(t, config, snapshotOf(t, st), pending("a", 10, 2)).Victims)); got != c.want {
			t.Errorf("w costs %d, x %d: %s, want %s", c.w, c.x, got, c.want)
		}
	}
}

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
