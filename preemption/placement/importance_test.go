package placement_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// "Importance: higher priority; groups of groups before groups and their pods, these before other pods; more pods; …" (step 3)
func TestUnitsAreAlike(t *testing.T) {
	pods := func(groups ...string) (list []workload.Pod) {
		for _, g := range groups {
			list = append(list, workload.Pod{ID: "p", Group: g})
		}
		return list
	}
	group := placement.Unit{Group: "g", Pods: pods("g", "g")}
	for name, c := range map[string]struct {
		a, b placement.Unit
		want bool
	}{
		"pods":                       {placement.Unit{Pods: pods("")}, placement.Unit{Pods: pods("")}, true},
		"another priority":           {placement.Unit{Pods: pods("")}, placement.Unit{Pods: pods(""), Priority: 1}, false},
		"a pod that names a group":   {placement.Unit{Pods: pods("")}, placement.Unit{Pods: pods("x")}, false},
		"a group, and pods of one":   {placement.Unit{Group: "g", Pods: pods("g")}, placement.Unit{Pods: pods("x")}, true},
		"groups":                     {group, placement.Unit{Group: "h", Pods: pods("h", "h")}, true},
		"another number of pods":     {group, placement.Unit{Group: "h", Pods: pods("h")}, false},
		"a group, and one of groups": {group, placement.Unit{Group: "h", Pods: pods("h", "below")}, false},
	} {
		if got := c.a.IsAlike(&c.b); got != c.want || c.b.IsAlike(&c.a) != got {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if id := group.ID(); id != "g" {
		t.Errorf("the ID of a group: %q", id)
	}
	if id := (&placement.Unit{Pods: pods("x")}).ID(); id != "p" {
		t.Errorf("the ID of a pod: %q", id)
	}
	if id := new(placement.Unit).ID(); id != "" {
		t.Errorf("no unit has the ID %q", id)
	}
}

// "The sum of the priorities of all victims, each offset by MaxInt32 + 1, so that a node with
// a few pods of negative priority is not picked over one with fewer of the same": by so
// much, and not by more. (kube-scheduler, pickOneNodeForPreemption)
func TestSumOfPriorities(t *testing.T) {
	for _, c := range []struct {
		a, b []int32
		want string
	}{
		{[]int32{0, -1}, []int32{0, math.MinInt32 + 1, math.MinInt32 + 1}, "b"}, // two of next to nothing are less than one
		{[]int32{0, -5}, []int32{0, -5, -5}, "a"},
		{[]int32{0, math.MinInt32}, []int32{0, math.MinInt32, math.MinInt32}, "a"}, // even: the fewer pods
		{[]int32{0, -6, -6}, []int32{0, -5, -5}, "a"},
	} {
		var st placement.State
		for node, priorities := range map[string][]int32{"a": c.a, "b": c.b} {
			st.Nodes = append(st.Nodes, workload.Node{Name: node, Capacity: workload.Resources{"cpu": 60}})
			for i, priority := range priorities {
				st.Pods = append(st.Pods, workload.Pod{ID: fmt.Sprint(node, i), Node: node, Priority: priority,
					Requests: workload.Resources{"cpu": 60 / int64(len(priorities))}})
			}
		}
		d := decided(t, st, placement.Request{Priority: 9, Pods: []workload.Pod{{ID: "new", Requests: workload.Resources{"cpu": 60}}}})
		if d.Outcome != preemption.Preempt || d.Domain != c.want {
			t.Errorf("a %v, b %v: %v on %q, want %q", c.a, c.b, d.Outcome, d.Domain, c.want)
		}
	}
}

// "priority defined in the `PodGroup` object will be used (and priority defined in the `Pod` itself will be
// ignored, thus not reflecting the actual pod priority)" (KEP-5710, Pod Group priorities): of pods that run,
// that are nominated, and that ask; also of one that asks alone.
func TestOwnPriorityIsIgnoredInAGroup(t *testing.T) {
	runs := cpu("runs", "a", 5000, 1)
	runs.Group = "low"
	for _, own := range []int32{0, 5, 5000} {
		st := placement.State{Nodes: []workload.Node{machine("a", 1)}, Pods: []workload.Pod{runs}, Groups: []workload.PodGroup{{ID: "low", Priority: 1}, {ID: "high", Priority: 1000}}}
		asks := cpu("in", "", own, 1)
		wantText(t, text(decide(t, placement.Config{}, snapshotOf(t, st), placement.Request{Group: "high", Priority: 1000, Pods: []workload.Pod{asks}})), "Preempt in@a; evict runs", "own priority %d", own)
		asks.Group = "high"
		wantText(t, text(decide(t, placement.Config{}, snapshotOf(t, st), placement.Request{Priority: 1000, Pods: []workload.Pod{asks}})), "Preempt in@a; evict runs", "alone, own priority %d", own)
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
		wantText(t, text(decide(t, placement.Config{}, snapshotOf(t, st), placement.Request{Priority: 10, Pods: []workload.Pod{cpu("in", "", 0, 1)}})), c.want, "priority %d, preempted %v", c.priority, c.preempted)
	}
}
