package right_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

var gpu = quota.FlavorResource{Flavor: "h100", Resource: "gpu"}

// runs is a workload that runs and was queued so many minutes before noon.
func runs(id, in string, priority int64, gpus int64, minutes int) workload.Workload {
	at := noon.Add(-time.Duration(minutes) * time.Minute)
	return workload.Workload{ID: id, UID: id, Queue: in, Priority: priority, Created: at, Queued: at, ReservedAt: at, AdmittedAt: at,
		PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: gpu.Flavor, Resource: gpu.Resource, Amount: gpus}}}}}
}

func with(w workload.Workload, change func(*workload.Workload)) workload.Workload {
	change(&w)
	return w
}

func of(name string, nominal int64, policy queue.PreemptionPolicy) queue.Queue {
	return queue.Queue{Name: name, Cohort: "org", Preemption: policy,
		Quotas: []quota.Quota{{Flavor: gpu.Flavor, Resource: gpu.Resource, Nominal: nominal}}}
}

// Each layer of a right says no in its turn: what the policy permits, whether the donor borrows, and the workload itself.
func TestVerdictOfEachLayer(t *testing.T) {
	lower := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}
	newer := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerOrNewerEqualPriority}
	admitted := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerOrNewerEqualPriority, MinAdmitDuration: quota.Some(time.Hour)}
	reclaimLower := queue.PreemptionPolicy{ReclaimWithinCohort: queue.LowerPriority}
	reclaimAny := queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}
	for name, c := range map[string]struct {
		policy  queue.PreemptionPolicy
		running workload.Workload
		change  func(*right.Request)
		want    trace.Rule
		until   time.Duration // after noon; -1: for ever
	}{
		"own, lower priority": {policy: lower, running: runs("w", "mine", 4, 1, 9)},
		"own, equal": {policy: lower, running: runs("w", "mine", 5, 1, 0),
			want: trace.WithinClusterQueue, until: -1},
		"own, newer equal": {policy: newer, running: runs("w", "mine", 5, 1, 9)},
		"own, older equal": {policy: newer, running: runs("w", "mine", 5, 1, 11),
			want: trace.WithinClusterQueue, until: -1},
		"own, older equal whose time will be over": {policy: admitted,
			running: runs("w", "mine", 5, 1, 59), want: trace.WithinClusterQueue, until: time.Minute},
		"own, older equal whose time is over": {policy: admitted,
			running: runs("w", "mine", 5, 1, 61)},
		"own, but it never yields": {policy: lower,
			running: with(runs("w", "mine", 4, 1, 9), func(w *workload.Workload) { w.NeverYields = true }), want: trace.NeverYields, until: -1},
		"peer, any priority":    {policy: reclaimAny, running: runs("w", "peer", 9, 3, 9)},
		"peer, lower priority":  {policy: reclaimLower, running: runs("w", "peer", 4, 3, 9)},
		"peer, not lower":       {policy: reclaimLower, running: runs("w", "peer", 5, 3, 9), want: trace.ReclaimWithinCohort},
		"peer that borrows not": {policy: reclaimAny, running: runs("w", "peer", 4, 2, 9), want: trace.WithinNominal},
		"peer, of another column": {policy: reclaimAny,
			running: with(runs("w", "peer", 4, 3, 9), func(w *workload.Workload) { w.PodSets[0].Requests[0].Resource = "cpu" }), want: trace.NotUsed},
		"peer, under a minimum runtime": {policy: reclaimAny, running: runs("w", "peer", 4, 3, 9),
			change: func(r *right.Request) {
				r.MinRuntime = minruntime.Defaults{Reclaim: quota.Some(10 * time.Minute)}
			},
			want: trace.MinRuntime, until: time.Minute},
		"peer, guarded": {policy: reclaimAny, running: runs("w", "peer", 4, 3, 9),
			change: func(r *right.Request) {
				r.Guard = func(*cluster.Workload) int64 { return noon.Add(time.Second).UnixNano() }
			},
			want: trace.Guarded, until: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			queues := []queue.Queue{of("mine", 2, c.policy), of("peer", 2, queue.PreemptionPolicy{})}
			all, err := cluster.New([]queue.Cohort{{Name: "org"}}, queues, []workload.Workload{c.running})
			if err != nil {
				t.Fatal(err)
			}
			node, _ := all.QueueNode("mine")
			queued := noon.Add(-10 * time.Minute).UnixNano()
			r := &right.Request{Queue: node, Priority: 5, Queued: queued, Now: noon.UnixNano(),
				Columns: []int{all.Columns.Number(gpu)}, Amounts: []int64{2}, Needs: []bool{true}}
			if d, limited := c.policy.MinAdmitDuration.Get(); limited {
				r.MinAdmit = int64(d)
			}
			if c.change != nil {
				c.change(r)
			}
			var judge right.Case
			judge.Begin(all, r)
			judge.CollectLevels()
			var donor right.Donor
			idle := -1
			if at, _ := all.QueueNode(c.running.Queue); at == node {
				donor, _ = judge.OwnDonor()
			} else {
				donor, idle = judge.DonorAt(&judge.Levels[0], at), judge.NotGiving(at, judge.Levels[0].Cohort)
			}
			w, _ := all.Find("w")
			got := judge.VerdictOfAll(&donor, w, idle)
			if got.Rule != c.want {
				t.Errorf("the verdict is %s, want %s", fmt.Sprint(got.Rule), fmt.Sprint(c.want))
			}
			switch want := noon.Add(c.until).UnixNano(); {
			case c.until < 0 && got.Until != math.MaxInt64, c.until > 0 && got.Until != want:
				t.Errorf("it holds until %d, want %d", got.Until, want)
			}
		})
	}
}

// A request borrows of a column where a cohort above its queue does, though the queue itself is within its nominal quota.
func TestOthersBorrowInACohort(t *testing.T) {
	cpu := quota.FlavorResource{Flavor: gpu.Flavor, Resource: "cpu"}
	in := func(name, cohort string, cpus int64) queue.Queue {
		return queue.Queue{Name: name, Cohort: cohort, Quotas: []quota.Quota{{Flavor: gpu.Flavor, Resource: gpu.Resource, Nominal: 8}, {Flavor: cpu.Flavor, Resource: cpu.Resource, Nominal: cpus}}}
	}
	cohorts := []queue.Cohort{{Name: "all"}, {Name: "here", Parent: "all"}}
	for used, want := range map[int64]bool{3: false, 4: true} {
		w := runs("w", "beside", 0, 1, 10)
		w.PodSets[0].Requests = []quota.Amount{{Flavor: cpu.Flavor, Resource: cpu.Resource, Amount: used}}
		all, err := cluster.New(cohorts, []queue.Queue{in("q", "here", 4), in("beside", "here", 0), in("far", "all", 8)}, []workload.Workload{w})
		if err != nil {
			t.Fatal(err)
		}
		node, _ := all.QueueNode("q")
		var c right.Case
		c.Begin(all, &right.Request{Queue: node, Columns: []int{all.Columns.Number(gpu), all.Columns.Number(cpu)}, Amounts: []int64{1, 1}, Needs: []bool{true, false}})
		if got := c.OthersBorrow(0); got != want {
			t.Errorf("%d CPUs used beside: %v", used, got)
		}
	}
}
