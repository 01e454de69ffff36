package fair_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/decide"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var gpu = quota.FlavorResource{Flavor: "h100", Resource: "gpu"}

// full is a cohort of queues "a", "b" and "c" with 4 GPUs each. Of each queue as many workloads run as sizes say, the first is the
// oldest; all have priority 0.
func full(t *testing.T, weights [3]float64, sizes [3][]int64) *cluster.Cluster {
	t.Helper()
	var queues []queue.Queue
	var running []workload.Workload
	for i, name := range []string{"a", "b", "c"} {
		queues = append(queues, queue.Queue{Name: name, Cohort: "all", FairWeight: quota.Some(weights[i]),
			Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any},
			Quotas:     []quota.Quota{{Flavor: gpu.Flavor, Resource: gpu.Resource, Nominal: 4}}})
		for k, size := range sizes[i] {
			at := time.Unix(int64(1000+k), 0)
			running = append(running, workload.Workload{ID: fmt.Sprint(name, k), UID: fmt.Sprint(name, k), Queue: name, Created: at, Queued: at, ReservedAt: at,
				PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: gpu.Flavor, Resource: gpu.Resource, Amount: size}}}}})
		}
	}
	c, err := cluster.New([]queue.Cohort{{Name: "all"}}, queues, running)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ones(n int) []int64 { return slices.Repeat([]int64{1}, n) }

// search looks for victims of a request of queue "a".
func search(all *cluster.Cluster, gpus int64, change func(*right.Request)) decide.Result {
	node, _ := all.QueueNode("a")
	r := &right.Request{Queue: node, Queued: time.Unix(5000, 0).UnixNano(), Now: time.Unix(5000, 0).UnixNano(),
		Columns: []int{all.Columns.Number(gpu)}, Amounts: []int64{gpus}, Needs: []bool{false}, FindNeeds: true}
	change(r)
	var s decide.Searcher
	return s.Search(all, r, nil, 4)
}

// KEP-1714: victims come from the queue with the largest share, one after the other; the strategies compare shares with the request
// and with or without the victim. A preemptor within its nominal quota needs no strategy.
func TestFairSharing(t *testing.T) {
	even := [3]float64{1, 1, 1}
	both := right.Fairness{First: right.FinalShare, Second: right.InitialShare, EntitlesNominal: true, Recheck: true}
	final, initial := right.Fairness{First: right.FinalShare, EntitlesNominal: true, Recheck: true}, right.Fairness{First: right.InitialShare, EntitlesNominal: true, Recheck: true}
	strict := both
	strict.EntitlesNominal = false
	for _, c := range []struct {
		about   string
		fair    right.Fairness
		weights [3]float64
		sizes   [3][]int64
		asks    int64
		want    string
	}{
		{"within nominal, from whom borrows", both, even, [3][]int64{nil, {4, 4}, {4}}, 4, "b1"},
		{"from the largest share first", both, even, [3][]int64{nil, ones(7), ones(5)}, 2, "b5 b6"},
		{"shares fall while victims go", both, even, [3][]int64{nil, ones(7), ones(5)}, 4, "b4 b5 b6 c4"},
		{"a larger weight is a smaller share", both, [3]float64{1, 9, 1}, [3][]int64{nil, ones(7), ones(5)}, 1, "c4"},
		{"who borrows as much with the request as the other without the victim", both, even, [3][]int64{ones(4), ones(7), ones(1)}, 1, "b6"},
		{"final: one more would be too much", final, even, [3][]int64{ones(4), {2, 2, 2}, ones(2)}, 1, ""},
		{"initial: less than with the victim", initial, even, [3][]int64{ones(4), {2, 2, 2}, ones(2)}, 1, "b2"},
		{"the second strategy, if the first finds none", both, even, [3][]int64{ones(4), {2, 2, 2}, ones(2)}, 1, "b2"},
		{"as much as the other with the victim", both, even, [3][]int64{ones(4), ones(6), ones(2)}, 2, ""},
		{"none from a queue within its nominal quota", both, even, [3][]int64{ones(5), ones(3), ones(4)}, 1, ""},
		{"strategies for all: within nominal the share is zero", strict, even, [3][]int64{nil, {4, 4}, {4}}, 4, "b1"},
	} {
		found := search(full(t, c.weights, c.sizes), c.asks, func(r *right.Request) { r.Fair = c.fair })
		var victims []string
		for _, v := range found.Victims {
			victims = append(victims, v.Workload.Facts.ID)
			if v.Fair == (c.asks <= 4-int64(len(c.sizes[0])) && c.fair.EntitlesNominal) {
				t.Errorf("%s: %s yields by a strategy: %t", c.about, v.Workload.Facts.ID, v.Fair)
			}
		}
		slices.Sort(victims)
		if got := strings.Join(victims, " "); got != c.want || found.Fits {
			t.Errorf("%s: %q, want %q", c.about, got, c.want)
		}
	}
}

// FairSharingReevaluatePreemptionCandidates: once victims of the own queue bring the preemptor within its nominal quota, it reclaims
// whom the first strategy refused. The protection against reclaims holds for these.
func TestReevaluated(t *testing.T) {
	all := full(t, [3]float64{1, 1, 1}, [3][]int64{ones(3), {3, 3, 3}, nil})
	for _, c := range []struct {
		about                string
		reevaluate           bool
		reclaim, fairSharing time.Duration
		want                 string
	}{
		{"refused by shares", false, 0, 0, ""},
		{"reclaimed in the second pass", true, 0, 0, "a2 b2"},
		{"the latest is protected from reclaims", true, 3999 * time.Second, 0, "a2 b1"},
		{"all are protected from reclaims", true, 2 * time.Hour, 0, ""},
		{"the latest is protected from fair sharing", true, 0, 3999 * time.Second, "a2 b1"},
	} {
		found := search(all, 4, func(r *right.Request) {
			r.Priority = 5
			r.Protection = minruntime.Protection{Reclaim: c.reclaim, FairSharing: c.fairSharing, From: minruntime.Reservation}
			r.Fair = right.Fairness{First: right.FinalShare, EntitlesNominal: true, Reevaluate: c.reevaluate}
		})
		var victims []string
		for _, v := range found.Victims {
			victims = append(victims, v.Workload.Facts.ID)
		}
		slices.Sort(victims)
		if got := strings.Join(victims, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.about, got, c.want)
		}
	}
}
