package placement_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Amounts at the limit of what is counted do not wrap.
func TestLargestAmounts(t *testing.T) {
	most := workload.Resources{"cpu": quota.MaxUsage}
	st := placement.State{
		Nodes: []workload.Node{{Name: "n1", Capacity: most}, {Name: "n2"}},
		Pods:  []workload.Pod{{ID: "a", Node: "n1", Requests: most}, {ID: "b", Node: "n2", Requests: most}},
	}
	r := placement.Request{Group: "in", Priority: 1, Pods: []workload.Pod{{ID: "x", Requests: most}, {ID: "y", Requests: most}}}
	for _, order := range []placement.Order{placement.FirstFit, placement.BestFit, placement.RoundRobin} {
		for _, mode := range []placement.Mode{placement.ModeDesign, placement.ModeInPlace, placement.ModeReplace} {
			d := decide(t, placement.Config{Order: order, Mode: mode}, snapshotOf(t, st), r)
			if got := text(d); got != "Preempt x@n1; evict a" {
				t.Errorf("%v, %v: %s", order, mode, got)
			}
		}
	}
	d := decide(t, placement.Config{Search: placement.Exact}, snapshotOf(t, st), r)
	if got := text(d); got != "Preempt x@n1; evict a" || !d.Proof.Optimal {
		t.Errorf("exact: %s, proof %+v", got, d.Proof)
	}
	st.Pods = append(st.Pods, workload.Pod{ID: "c", Node: "n1", Requests: workload.Resources{"cpu": 1}})
	if _, err := placement.NewSnapshot(st); err == nil || !strings.Contains(err.Error(), "nodes[0]: more than 2^62 of a resource is used") {
		t.Error(err)
	}
}

// Too many resources are refused: each would cost memory on every node.
func TestManyResources(t *testing.T) {
	many := workload.Resources{}
	for i := range placement.MaxResources + 1 {
		many[fmt.Sprintf("r%d", i)] = 1
	}
	if _, err := placement.NewSnapshot(placement.State{Nodes: []workload.Node{{Name: "n", Capacity: many}}}); err == nil {
		t.Error("a state of too many resources is taken")
	}
	s := snapshotOf(t, placement.State{Nodes: []workload.Node{{Name: "n"}}})
	if _, err := s.With(placement.Run(workload.Pod{ID: "p", Node: "n", Requests: many})); err == nil || !strings.Contains(err.Error(), fmt.Sprintf(": %d different resources, more than %d", len(many), placement.MaxResources)) {
		t.Errorf("an edit of too many resources: %v", err)
	}
	p, err := placement.New(placement.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Decide(s, placement.Request{Pods: []workload.Pod{{ID: "p", Requests: many}}}); err == nil {
		t.Error("a request of too many resources is taken")
	}
	// As many as may be are taken, those of the snapshot with those of the request.
	delete(many, "r0")
	if _, err := p.Decide(s, placement.Request{Pods: []workload.Pod{{ID: "p", Requests: many}}}); err != nil {
		t.Error(err)
	}
	if s, err = s.With(placement.SetNode(workload.Node{Name: "n", Capacity: many})); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Decide(s, placement.Request{Pods: []workload.Pod{{ID: "p", Requests: many}}}); err != nil {
		t.Error(err)
	}
	if _, err := p.Decide(s, placement.Request{Pods: []workload.Pod{{ID: "p", Requests: workload.Resources{"r0": 1}}}}); err == nil {
		t.Error("one resource too many, with those of the snapshot, is taken")
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
		s, err := s.With(placement.SetNode(node))
		if err != nil {
			t.Fatal(err)
		}
		if d := decide(t, placement.Config{}, s, placement.Request{Pods: []workload.Pod{cpu("in", "", 0, 1)}}); d.Outcome != want {
			t.Errorf("of at most %d pods one runs: %v, want %v", most, d.Outcome, want)
		}
	}
}

// A nominated pod takes its resources and one place, though nobody has named its resource yet.
func TestNominatedPodOfANewResource(t *testing.T) {
	s := snapshotOf(t, placement.State{Nodes: []workload.Node{{Name: "n", Capacity: workload.Resources{"cpu": 8, workload.PodsResource: 2}}}})
	s, err := s.With(placement.Nominate(workload.Pod{ID: "promised", Node: "n", Priority: 9, Requests: workload.Resources{"slots": 1}}))
	if err != nil {
		t.Fatal(err)
	}
	if d := decide(t, placement.Config{}, s, placement.Request{Pods: []workload.Pod{cpu("in", "", 0, 1)}}); d.Outcome != preemption.Fits {
		t.Errorf("%v, want %v", d.Outcome, preemption.Fits)
	}
}

// Pods by the thousand on one node, groups over everything, a gang as large as the cluster.
func TestLargeUnits(t *testing.T) {
	var st placement.State
	const n = 2000
	st.Groups = []workload.PodGroup{{ID: "g", DisruptionMode: workload.DisruptionModePodGroup}}
	st.Nodes = []workload.Node{{Name: "big", Capacity: workload.Resources{"slots": n}}}
	for i := range n {
		st.Nodes = append(st.Nodes, workload.Node{Name: fmt.Sprintf("n%04d", i), Capacity: workload.Resources{"slots": 1}})
		st.Pods = append(st.Pods,
			workload.Pod{ID: fmt.Sprintf("a%04d", i), Node: "big", Priority: int32(i + 1), Requests: workload.Resources{"slots": 1}},
			workload.Pod{ID: fmt.Sprintf("b%04d", i), Node: fmt.Sprintf("n%04d", i), Group: "g", Requests: workload.Resources{"slots": 1}})
	}
	r := pending(n)
	r.Priority = 1 << 30
	d := decide(t, placement.Config{}, snapshotOf(t, st), r)
	if d.Outcome != preemption.Preempt || len(d.Victims) != 1 || len(d.Victims[0].Pods) != n {
		t.Errorf("%v, %d victims", d.Outcome, len(d.Victims))
	}
}
