package when_test

import (
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

var (
	noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	gpu  = quota.FlavorResource{Flavor: "h100", Resource: "gpu"}
)

// runs is a workload of four GPUs that has run for so many minutes.
func runs(id string, priority int64, minutes int) workload.Workload {
	at := noon.Add(-time.Duration(minutes) * time.Minute)
	return workload.Workload{ID: id, UID: id, Queue: "q", Priority: priority, Created: at, Queued: at, ReservedAt: at, AdmittedAt: at,
		PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: gpu.Flavor, Resource: gpu.Resource, Amount: 4}}}}}
}

// A request in a full queue of 16 GPUs succeeds a nanosecond after the last of the protections that it needs ends, and not before;
// if no time helps, there is no instant.
func TestFirstInstant(t *testing.T) {
	running := []workload.Workload{runs("a", 1, 10), runs("b", 2, 20), runs("c", 3, 30), runs("d", 9, 40)}
	for name, c := range map[string]struct {
		asks    int64
		change  func(*right.Request)
		minutes int // after noon; -1: no instant
	}{
		"the first that ends is enough": {asks: 4, minutes: 30},
		"two of three":                  {asks: 8, minutes: 40},
		"all three":                     {asks: 12, minutes: 50},
		"four would be needed":          {asks: 16, minutes: -1},
		"guards end later": {asks: 4, change: func(r *right.Request) {
			r.Guard = func(*cluster.Workload) int64 { return noon.Add(time.Hour).UnixNano() }
		}, minutes: 60},
		"guards that never end":            {asks: 4, change: func(r *right.Request) { r.Guard = func(*cluster.Workload) int64 { return 1<<63 - 1 } }, minutes: -1},
		"of a priority that none is below": {asks: 4, change: func(r *right.Request) { r.Priority = 1 }, minutes: -1},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := cluster.New(nil, []queue.Queue{{Name: "q", Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority},
				Quotas: []quota.Quota{{Flavor: gpu.Flavor, Resource: gpu.Resource, Nominal: 16}}}}, running)
			if err != nil {
				t.Fatal(err)
			}
			node, _ := all.QueueNode("q")
			r := &right.Request{Queue: node, Priority: 5, Queued: noon.UnixNano(), Now: noon.UnixNano(),
				Columns: []int{all.Columns.Number(gpu)}, Amounts: []int64{c.asks}, FindNeeds: true, Needs: []bool{false}, Retry: right.Retry{MaxSteps: 1000},
				MinRuntime: minruntime.Defaults{Preempt: quota.Some(time.Hour)}}
			if c.change != nil {
				c.change(r)
			}
			var s decide.Searcher
			got := s.Search(all, r, nil, 4)
			if len(got.Victims) > 0 || got.Fits {
				t.Fatalf("it succeeds at noon: %+v", got)
			}
			if c.minutes < 0 {
				if got.Waits {
					t.Errorf("RetryAt is %v", time.Unix(0, got.RetryAt).UTC())
				}
				return
			}
			if want := noon.Add(time.Duration(c.minutes)*time.Minute).UnixNano() + 1; !got.Waits || got.RetryAt != want {
				t.Fatalf("RetryAt is %v, want %v", time.Unix(0, got.RetryAt).UTC(), time.Unix(0, want).UTC())
			}
			at := got.RetryAt
			if r.Now = at - 1; len(s.Search(all, r, nil, 4).Victims) > 0 {
				t.Error("it succeeds a nanosecond before")
			}
			if r.Now = at; len(s.Search(all, r, nil, 4).Victims) == 0 {
				t.Error("it does not succeed at RetryAt")
			}
		})
	}
}
