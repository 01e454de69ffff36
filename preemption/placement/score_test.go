package placement_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

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
