package decide

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var resources = []string{"cpu", "memory"}

// lent draws borrowers, some in cohorts of their own, that use up what one queue, "lender",
// lends them, and began at different seconds; total is what is lent.
func lent(t *rapid.T) (c *cluster.Cluster, total []int64) {
	n := func(name string, most int) int64 { return int64(rapid.IntRange(0, most).Draw(t, name)) }
	cohorts := []queue.Cohort{{Name: "root"}, {Name: "x", Parent: "root"}, {Name: "y", Parent: "root"}}
	total = []int64{0, 0}
	var queues []queue.Queue
	var admitted []workload.Workload
	for q := range 4 {
		name, used := fmt.Sprint("q", q), []int64{0, 0}
		for range 1 + n("workloads", 5) {
			w := workload.Workload{
				ID: fmt.Sprint("w", len(admitted)), Queue: name, Priority: n("priority", 2), Evicted: n("evicted", 9) == 9,
				ReservedAt: time.Unix(n("reserved", 20), 0), PodSets: []workload.PodSet{{Name: "main", Count: 1}},
			}
			p := &w.PodSets[0]
			if n("elastic", 4) == 4 {
				p.Count, p.MinCount = 3, workload.AtLeast(1)
			}
			for i, resource := range resources {
				amount := n("amount", 4)
				p.Requests = append(p.Requests, quota.Amount{Flavor: "f", Resource: resource, Amount: amount})
				used[i] += p.Count * amount
			}
			admitted = append(admitted, w)
		}
		made := queue.Queue{Name: name, Cohort: cohorts[n("cohort", 2)].Name}
		for i, resource := range resources {
			borrowed := min(used[i], n("borrowed", 8))
			total[i] += borrowed
			made.Quotas = append(made.Quotas, quota.Quota{Flavor: "f", Resource: resource, Nominal: used[i] - borrowed})
		}
		queues = append(queues, made)
	}
	lender := queue.Queue{Name: "lender", Cohort: "root", Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.LowerPriority}}
	for i, resource := range resources {
		lender.Quotas = append(lender.Quotas, quota.Quota{Flavor: "f", Resource: resource, Nominal: total[i]})
	}
	c, err := cluster.New(cohorts, append(queues, lender), admitted)
	if err != nil {
		t.Fatal(err)
	}
	return c, total
}

// Where most of what is lent is asked for, many instants fail at which enough has become
// free: queues are within nominal quota before all of it is taken. RetryAt is the first
// success of all seconds.
func retryAtWhenMuchIsLent(t *rapid.T) {
	c, total := lent(t)
	r := &right.Request{Priority: 2, Retry: right.Retry{MaxSteps: math.MaxInt}, Now: int64(21 * time.Second), Needs: []bool{true, true}}
	r.Queue, _ = c.QueueNode("lender")
	r.MinRuntime.Reclaim = quota.Some(30 * time.Second)
	for i, resource := range resources {
		r.Columns = append(r.Columns, c.Columns.Number(quota.FlavorResource{Flavor: "f", Resource: resource}))
		r.Amounts = append(r.Amounts, max(0, total[i]-int64(rapid.IntRange(0, 3).Draw(t, "less"))))
	}
	if rapid.IntRange(0, 3).Draw(t, "guard") == 0 {
		r.Guard = func(w *cluster.Workload) int64 { return w.Reserved + int64(w.Priority+29)*int64(time.Second) }
	}
	var s Searcher
	found := s.Search(c, r, nil, 0)
	if found.Fits || len(found.Victims) > 0 {
		return
	}
	at, waits := found.RetryAt, found.Waits
	for second := range int64(31) {
		r.Now = (21+second)*int64(time.Second) + 1
		if len(s.Search(c, r, nil, 0).Victims) > 0 {
			if !waits || at != r.Now {
				t.Fatalf("%v until %d, want until %d", waits, at, r.Now)
			}
			return
		}
	}
	if waits {
		t.Fatalf("until %d, want never", at)
	}
}

func TestRetryAtWhenMuchIsLent(t *testing.T) { rapid.Check(t, retryAtWhenMuchIsLent) }

// one runs in queue "b" in a given number of replicas of one each, the first of which must stay.
func one(id string, replicas int64, reserved time.Time) workload.Workload {
	return workload.Workload{ID: id, Queue: "b", Queued: time.Unix(0, 0), ReservedAt: reserved, PodSets: []workload.PodSet{{
		Count: replicas, MinCount: workload.AtLeast(1), Requests: []quota.Amount{{Flavor: "f", Resource: "r", Amount: 1}},
	}}}
}

func TestRetryAtOfOrderAndSurplus(t *testing.T) {
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0) }
	whole := func(id string, replicas int64, reserved time.Time) workload.Workload {
		w := one(id, replicas, reserved)
		w.PodSets[0].MinCount = quota.OptionalInt64{}
		return w
	}
	vip := whole("vip", 3, at(95))
	vip.Queue, vip.Priority = "other", 5
	quotas := func(n int64) []quota.Quota { return []quota.Quota{{Flavor: "f", Resource: "r", Nominal: n}} }
	for _, c := range []struct {
		name     string
		queue    string // of the preemptor
		priority int64
		a, b     int64 // nominal quotas
		amount   int64
		admitted []workload.Workload
		want     time.Time
	}{
		// Equals in the own queue may yield after 10 s, but are protected for 30; their surplus
		// is not.
		{"surplus of two", "b", 0, 0, 6, 2, []workload.Workload{one("v", 2, at(95)), one("w", 2, at(97)), whole("x", 2, at(98))}, at(107).Add(1)},
		{"and one whole", "b", 0, 0, 6, 3, []workload.Workload{one("v", 2, at(95)), one("w", 2, at(97)), whole("x", 2, at(99))}, at(125).Add(1)},
		// Of b, which borrows 1, one goes, and nobody after it. One without reservation comes
		// after those whose reservation lies ahead; when that is now, by ID.
		{"passed", "a", 1, 4, 4, 4, []workload.Workload{whole("v", 1, at(110)), whole("w", 4, time.Time{}), vip}, at(110).Add(1)},
		{"reached", "a", 1, 4, 4, 4, []workload.Workload{whole("w", 1, at(110)), whole("v", 4, time.Time{}), vip}, at(110)},
	} {
		policy := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerOrNewerEqualPriority, ReclaimWithinCohort: queue.LowerPriority}
		made, err := cluster.New([]queue.Cohort{{Name: "c"}}, []queue.Queue{
			{Name: "a", Cohort: "c", Preemption: policy, Quotas: quotas(c.a)},
			{Name: "b", Cohort: "c", Preemption: policy, Quotas: quotas(c.b)},
			{Name: "other", Cohort: "c"},
		}, c.admitted)
		if err != nil {
			t.Fatal(err)
		}
		r := ask(made, c.queue, c.priority, c.amount)
		r.Now, r.Retry.MaxSteps, r.MinAdmit = at(100).UnixNano(), 1000, int64(10*time.Second)
		r.MinRuntime.Preempt = quota.Some(30 * time.Second)
		var s Searcher
		if found := s.Search(made, r, nil, 16); !found.Waits || found.RetryAt != c.want.UnixNano() {
			t.Errorf("%s: %v until %v, want until %v", c.name, found.Waits, time.Unix(0, found.RetryAt).UTC(), c.want.UTC())
		}
	}
}
