package preemption_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// What a scheduler has, in the shape of Kueue's: totals by pod set, and a cache of queues.
type (
	info struct {
		key, localQueue, clusterQueue string
		priority                      int64
		queuedAt, reservedAt          time.Time
		evicted                       bool
		podSets                       []podSetResources
	}
	podSetResources struct {
		name     string
		count    int64
		requests map[string]int64  // totals by resource
		flavors  map[string]string // by resource; empty while the workload waits
	}
	clusterQueue struct {
		name, cohort string
		nominal      map[quota.FlavorResource]int64
		policy       queue.PreemptionPolicy
		usage        []queue.LocalQueueUsage // of its local queues
	}
	target struct{ key, reason string }
)

// The adapter begins here.

// adapter answers a scheduler's question with cede. It keeps the snapshot of the last cycle.
type adapter struct {
	snapshot  *preemption.Snapshot
	preemptor *preemption.Preemptor
}

// follow brings the snapshot up to date at the start of a cycle, at the cost of what changed.
func (a *adapter) follow(queues []clusterQueue, admitted []info) (err error) {
	var st preemption.State
	cohorts := map[string]bool{}
	for _, q := range queues {
		out := queue.Queue{Name: q.name, Cohort: q.cohort, Preemption: q.policy}
		for fr, nominal := range q.nominal {
			out.Quotas = append(out.Quotas, quota.Quota{Flavor: fr.Flavor, Resource: fr.Resource, Nominal: nominal})
		}
		slices.SortFunc(out.Quotas, func(a, b quota.Quota) int { return a.FlavorResource().Compare(b.FlavorResource()) })
		st.Queues = append(st.Queues, out)
		cohorts[q.cohort] = q.cohort != ""
	}
	for _, name := range slices.Sorted(maps.Keys(cohorts)) {
		if cohorts[name] {
			st.Cohorts = append(st.Cohorts, queue.Cohort{Name: name})
		}
	}
	for i := range admitted {
		st.Admitted = append(st.Admitted, asWorkload(&admitted[i]))
	}
	a.snapshot, _, err = a.snapshot.Sync(st)
	return err
}

// asWorkload has the totals as they are: what a replica takes is not known.
func asWorkload(in *info) workload.Workload {
	out := workload.Workload{
		ID: in.key, Queue: in.clusterQueue, LocalQueue: in.localQueue, Priority: in.priority,
		Queued: in.queuedAt, ReservedAt: in.reservedAt, Evicted: in.evicted,
	}
	for _, p := range in.podSets {
		set := workload.PodSet{Name: p.name, Count: p.count, Totals: true}
		for _, resource := range slices.Sorted(maps.Keys(p.requests)) {
			set.Requests = append(set.Requests, quota.Amount{Flavor: p.flavors[resource], Resource: resource, Amount: p.requests[resource]})
		}
		out.PodSets = append(out.PodSets, set)
	}
	return out
}

// targets says who must yield. The decision stands in the snapshot for the rest of the cycle.
func (a *adapter) targets(in *info, usage []queue.LocalQueueUsage, now time.Time) (list []target, fits bool, retryAt time.Time, err error) {
	d, err := a.preemptor.Decide(a.snapshot, preemption.Request{Workload: asWorkload(in), LocalQueueUsage: usage, Now: now})
	if err != nil {
		return nil, false, retryAt, err
	}
	for _, v := range d.Victims {
		list = append(list, target{v.Workload, v.Reason.String()})
	}
	if d.Possible() {
		a.snapshot, err = a.snapshot.With(d.Edits()...)
	}
	return list, d.Outcome == preemption.Fits, d.RetryAt, err
}

// The adapter ends here.

// An adapter: a scheduler with types of its own asks cede. Flavors are assigned, admissions and
// victims are known to the decisions that follow, local queues that used more yield first.
func Example_adapter() {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	gpu := quota.FlavorResource{Flavor: "h100", Resource: "gpu"}
	q := clusterQueue{
		name: "team", nominal: map[quota.FlavorResource]int64{gpu: 8},
		policy: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority},
		usage:  []queue.LocalQueueUsage{{LocalQueue: "ns/greedy", Usage: 7}, {LocalQueue: "ns/modest", Usage: 1}},
	}
	runs := func(key, local string, priority, gpus int64) info {
		return info{key: key, localQueue: local, clusterQueue: "team", priority: priority, queuedAt: now.Add(-time.Hour), reservedAt: now.Add(-time.Hour),
			podSets: []podSetResources{{"main", 3, map[string]int64{"gpu": gpus}, map[string]string{"gpu": "h100"}}}}
	}
	a := &adapter{preemptor: new(preemption.Preemptor)}
	if err := a.follow([]clusterQueue{q}, []info{runs("low", "ns/modest", 0, 4), runs("mid", "ns/greedy", 1, 3)}); err != nil {
		fmt.Println(err)
	}
	for _, key := range []string{"first", "second"} {
		asks := info{key: key, clusterQueue: "team", priority: 9, queuedAt: now, podSets: []podSetResources{{"main", 1, map[string]int64{"gpu": 1}, nil}}}
		if key == "second" {
			asks.podSets[0].requests["gpu"] = 3
		}
		list, fits, _, err := a.targets(&asks, q.usage, now)
		fmt.Println(key, fits, list, err)
	}
	// Output:
	// first true [] <nil>
	// second false [{mid InClusterQueue}] <nil>
}

// "An adapter is under 120 lines."
func TestAdapterIsSmall(t *testing.T) {
	source := must(os.ReadFile("example_adapter_test.go"))(t)
	_, rest, begins := strings.Cut(string(source), "// The adapter begins here.\n")
	adapter, _, ends := strings.Cut(rest, "// The adapter ends here.\n")
	if n := strings.Count(adapter, "\n"); !begins || !ends || n < 20 || n >= 120 {
		t.Errorf("%d lines", n)
	} else {
		t.Logf("%d lines", n)
	}
}
