package placement_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// "priority defined in the `PodGroup` object will be used (and priority defined in the `Pod` itself will be
// ignored, thus not reflecting the actual pod priority)" (KEP-5710, Pod Group priorities): of pods that run,
// that are nominated, and that ask; also of one that asks alone.
func TestOwnPriorityIsIgnoredInAGroup(t *testing.T) {
	runs := cpu("runs", "a", 5000, 1)
	runs.Group = "low"
	for _, own := range []int32{0, 5, 5000} {
		st := placement.State{Nodes: []workload.Node{machine("a", 1)}, Pods: []workload.Pod{runs}, Groups: []workload.PodGroup{{ID: "low", Priority: 1}, {ID: "high", Priority: 1000}}}
		asks := cpu("in", "", own, 1)
		if got := text(decide(t, placement.Config{}, snapshotOf(t, st), placement.Request{Group: "high", Priority: 1000, Pods: []workload.Pod{asks}})); got != "Preempt in@a; evict runs" {
			t.Errorf("own priority %d: %q", own, got)
		}
		asks.Group = "high"
		if got := text(decide(t, placement.Config{}, snapshotOf(t, st), placement.Request{Priority: 1000, Pods: []workload.Pod{asks}})); got != "Preempt in@a; evict runs" {
			t.Errorf("alone, own priority %d: %q", own, got)
		}
	}
	asks := cpu("in", "", 5, 1)
	asks.Group = "unknown"
	_, err := new(placement.Preemptor).Decide(snapshotOf(t, placement.State{Nodes: []workload.Node{machine("a", 1)}}), placement.Request{Priority: 1000, Pods: []workload.Pod{asks}})
	wantFaults(t, err, `request.pods[0].priority: 5 differs from 1000 of the request`)
}

// What is waited for is that triggered preemptions are finished (KEP-5710, Delayed preemption): a pod that terminates for
// another reason counts as running, unless its priority is lower.
func TestPodsThatWereNotPreempted(t *testing.T) {
	for _, c := range []struct {
		priority  int32
		preempted bool
		want      string
	}{
		{9, false, "Wait in@a"}, {9, true, "Wait in@a"},
		{10, false, "Preempt in@b; evict low"}, {10, true, "Wait in@a"},
		{9000, false, "Preempt in@b; evict low"}, {9000, true, "Wait in@a"},
	} {
		leaves := cpu("leaves", "a", c.priority, 1)
		leaves.Terminating, leaves.Preempted, leaves.TerminatingSince = true, c.preempted, time.Time{}
		st := placement.State{Nodes: []workload.Node{machine("a", 1), machine("b", 1)}, Pods: []workload.Pod{leaves, cpu("low", "b", 0, 1)}}
		if got := text(decide(t, placement.Config{}, snapshotOf(t, st), placement.Request{Priority: 10, Pods: []workload.Pod{cpu("in", "", 0, 1)}})); got != c.want {
			t.Errorf("priority %d, preempted %v: %q, want %q", c.priority, c.preempted, got, c.want)
		}
	}
}
