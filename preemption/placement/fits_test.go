package placement_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/workload"
)

// A pod that names its nodes may run on each of them, also on those after the 64th.
func TestNodesByNameInALargeCluster(t *testing.T) {
	var st placement.State
	for i := range 130 {
		st.Nodes = append(st.Nodes, machine(fmt.Sprintf("n%03d", i), 1))
	}
	for _, at := range []int{0, 63, 64, 65, 127, 128, 129} {
		p := cpu("p", "", 0, 1)
		p.Nodes = []string{st.Nodes[at].Name}
		d := decided(t, st, placement.Request{Pods: []workload.Pod{p}})
		if d.Outcome != preemption.Fits || len(d.Nominations) != 1 || d.Nominations[0].Node != st.Nodes[at].Name {
			t.Errorf("%d: %v at %v", at, d.Outcome, d.Nominations)
		}
	}
}

// Members in conflict with each other share no node.
func TestMembersInConflict(t *testing.T) {
	c := placement.Config{Filters: []placement.Filter{preemptiontest.Apart{Label: "app"}}}
	r := pending(2)
	for i := range r.Pods {
		r.Pods[i].Labels = map[string]string{"app": "web"}
	}
	for nodes, want := range map[int]string{1: "Impossible (NoVictims)", 2: "Fits in0@n1 in1@n2"} {
		st := world(t, []string{"n1 4:", "n2 4:"}[:nodes]...)
		wantText(t, text(decide(t, c, snapshotOf(t, st), r)), want, "%d nodes", nodes)
	}
}

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

// "Missing: the least, on one node, for one more pod": the smallest over the nodes, also over
// those that hold some pods already.
func TestLeastMissing(t *testing.T) {
	for _, c := range []struct {
		slots [2]int64 // of the nodes; each pod of the gang of three takes four
		want  int64
	}{{[2]int64{7, 2}, 1}, {[2]int64{2, 7}, 1}, {[2]int64{3, 1}, 1}, {[2]int64{4, 2}, 2}, {[2]int64{6, 5}, 2}, {[2]int64{5, 6}, 2}} {
		r := pending(3)
		for i := range r.Pods {
			r.Pods[i].Requests = workload.Resources{"slots": 4}
		}
		s := snapshotOf(t, world(t, fmt.Sprint("n1 ", c.slots[0], ":"), fmt.Sprint("n2 ", c.slots[1], ":")))
		if d := decide(t, placement.Config{}, s, r); len(d.Shortage) != 1 || d.Shortage[0].Missing != c.want {
			t.Errorf("%v: %+v, want %d missing", c.slots, d.Shortage, c.want)
		}
	}
}
