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
		for _, mode := range []placement.Mode{placement.ModeDesign, placement.ModeInPlace} {
			d := decide(t, placement.Config{Order: order, Mode: mode}, snapshotOf(t, st), r)
			wantText(t, text(d), "Preempt x@n1; evict a", "%v, %v", order, mode)
		}
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

// With too many resources an edit numbers nodes and resources anew. It replaces the node that it names all the same.
func TestSetNodeWithManyResources(t *testing.T) {
	many := func(prefix string, n int) workload.Resources {
		r := workload.Resources{}
		for i := range n {
			r[fmt.Sprint(prefix, i)] = 1
		}
		return r
	}
	s := snapshotOf(t, placement.State{Nodes: []workload.Node{{Name: "m", Capacity: many("old", placement.MaxResources-1)}}})
	next, err := s.With(
		placement.SetNode(workload.Node{Name: "a"}), // its number is not its place by name
		placement.SetNode(workload.Node{Name: "m"}), // frees the resources
		placement.SetNode(workload.Node{Name: "a", Capacity: many("new", 2)}),
	)
	if err != nil {
		t.Fatal(err)
	}
	a, ok := next.Node("a")
	if m, there := next.Node("m"); !ok || !there || len(a.Capacity) != 2 || len(m.Capacity) != 0 {
		t.Errorf("a: %v %v, m: %v", a, ok, m)
	}
}
