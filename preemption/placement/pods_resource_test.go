package placement_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// A pod that does not come back gives its place among the pods of the node to another: as
// many run as the node has room for, whichever of them is put back first.
func TestPlacesOfPods(t *testing.T) {
	st := placement.State{Nodes: []workload.Node{{Name: "a", Capacity: workload.Resources{"cpu": 9, workload.PodsResource: 2}}}}
	for id, cpu := range map[string]int64{"x": 6, "y": 3} {
		priority := map[string]int32{"x": 5, "y": 1}[id] // x is put back first, and has no room
		st.Pods = append(st.Pods, workload.Pod{ID: id, Node: "a", Priority: priority, Requests: workload.Resources{"cpu": cpu}})
	}
	d := decided(t, st, placement.Request{Priority: 9, Pods: []workload.Pod{{ID: "new", Requests: workload.Resources{"cpu": 4}}}})
	if d.Outcome != preemption.Preempt || len(d.Victims) != 1 || d.Victims[0].Pods[0] != "x" {
		t.Errorf("%v, %v", d.Outcome, d.Victims)
	}
}

// A limit on the number of pods holds on a node that an edit brings, too.
func TestPodsOfANewNode(t *testing.T) {
	s := snapshotOf(t, placement.State{})
	s, err := s.With(
		placement.SetNode(workload.Node{Name: "n", Capacity: workload.Resources{"cpu": 8, workload.PodsResource: 1}}),
		placement.Run(cpu("runs", "n", 9, 1)),
	)
	if err != nil {
		t.Fatal(err)
	}
	if d := decide(t, placement.Config{}, s, placement.Request{Pods: []workload.Pod{cpu("in", "", 0, 1)}}); d.Outcome != preemption.Impossible {
		t.Errorf("%v, want %v", d.Outcome, preemption.Impossible)
	}
}

// A limit on the number of pods may come later than the node.
func TestPodsOfAChangedNode(t *testing.T) {
	node := workload.Node{Name: "n", Capacity: workload.Resources{"cpu": 8}}
	s := snapshotOf(t, placement.State{Nodes: []workload.Node{node}, Pods: []workload.Pod{cpu("runs", "n", 9, 1)}})
	for most, want := range map[int64]preemption.Outcome{1: preemption.Impossible, 2: preemption.Fits} {
		node.Capacity = workload.Resources{"cpu": 8, workload.PodsResource: most}
		s := must(s.With(placement.SetNode(node)))(t)
		if d := decide(t, placement.Config{}, s, placement.Request{Pods: []workload.Pod{cpu("in", "", 0, 1)}}); d.Outcome != want {
			t.Errorf("of at most %d pods one runs: %v, want %v", most, d.Outcome, want)
		}
	}
}

// A nominated pod takes its resources and one place, though nobody has named its resource yet.
func TestNominatedPodOfANewResource(t *testing.T) {
	s := snapshotOf(t, placement.State{Nodes: []workload.Node{{Name: "n", Capacity: workload.Resources{"cpu": 8, workload.PodsResource: 2}}}})
	s = must(s.With(placement.Nominate(workload.Pod{ID: "promised", Node: "n", Priority: 9, Requests: workload.Resources{"slots": 1}})))(t)
	if d := decide(t, placement.Config{}, s, placement.Request{Pods: []workload.Pod{cpu("in", "", 0, 1)}}); d.Outcome != preemption.Fits {
		t.Errorf("%v, want %v", d.Outcome, preemption.Fits)
	}
}
