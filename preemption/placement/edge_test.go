package placement_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

func decided(t *testing.T, st placement.State, r placement.Request) placement.Decision {
	t.Helper()
	p, err := placement.New(placement.Config{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Decide(snapshotOf(t, st), r)
	if err != nil {
		t.Fatal(err)
	}
	return d
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

// A promise holds although another node would be filled better.
func TestPromiseBeforeTheBestFit(t *testing.T) {
	pod := workload.Pod{ID: "p", Group: "g", Requests: workload.Resources{"cpu": 1}}
	promised := pod
	promised.Node = "a"
	p, err := placement.New(placement.Config{Order: placement.BestFit})
	if err != nil {
		t.Fatal(err)
	}
	for _, nominated := range [][]workload.Pod{nil, {promised}} {
		st := placement.State{
			Nodes:     []workload.Node{{Name: "a", Capacity: workload.Resources{"cpu": 5}}, {Name: "b", Capacity: workload.Resources{"cpu": 1}}},
			Nominated: nominated,
			Groups:    []workload.PodGroup{{ID: "g"}},
		}
		d, err := p.Decide(snapshotOf(t, st), placement.Request{Group: "g", MinCount: 1, Pods: []workload.Pod{pod}})
		want := []string{"b", "a"}[len(nominated)]
		if err != nil || d.Outcome != preemption.Fits || len(d.Nominations) != 1 || d.Nominations[0].Node != want {
			t.Errorf("%d promised: %v, %v, %v; want %s", len(nominated), d.Outcome, d.Nominations, err, want)
		}
	}
}

// One pod of a group that was promised room keeps it, though another node comes first.
func TestOnePromiseIsKept(t *testing.T) {
	for node, first := range map[string]string{"a": "b", "b": "a"} {
		pod := workload.Pod{ID: "p", Group: "g", Requests: workload.Resources{"cpu": 1}}
		promised := pod
		promised.Node = node
		st := placement.State{
			Nodes:     []workload.Node{{Name: "a", Capacity: workload.Resources{"cpu": 1}}, {Name: "b", Capacity: workload.Resources{"cpu": 1}}},
			Nominated: []workload.Pod{promised},
			Groups:    []workload.PodGroup{{ID: "g"}},
		}
		d := decided(t, st, placement.Request{Group: "g", MinCount: 1, Pods: []workload.Pod{pod}, Prefer: []string{first}})
		if d.Outcome != preemption.Fits || len(d.Nominations) != 1 || d.Nominations[0].Node != node {
			t.Errorf("%v, %v; promised %s", d.Outcome, d.Nominations, node)
		}
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

// "In the order of the domains; with MaxDomains those without violation first." Sampling
// "starts at FirstNode, wraps around, and stops after MaxDomains of them".
func TestOrderOfPlacements(t *testing.T) {
	var st placement.State
	for _, node := range []string{"a", "b", "c", "d"} {
		st.Nodes = append(st.Nodes, workload.Node{Name: node, Capacity: workload.Resources{"cpu": 1}})
		guarded := map[string]string{"guarded": map[string]string{"a": "yes", "c": "yes"}[node]}
		st.Pods = append(st.Pods, workload.Pod{ID: node, Namespace: "ns", Node: node, Labels: guarded, Requests: workload.Resources{"cpu": 1}})
	}
	st.Budgets = []workload.DisruptionBudget{{Namespace: "ns", Name: "none", Selector: &workload.LabelSelector{MatchLabels: map[string]string{"guarded": "yes"}}}}
	p, err := placement.New(placement.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		most, first int
		want        string
	}{{0, 0, "dcba"}, {0, 2, "dcba"}, {100, 0, "dbca"}, {1, 0, "d"}, {1, 2, "b"}, {1, 3, "da"}, {1, 6, "b"}, {2, 0, "dc"}} {
		r := placement.Request{Priority: 1, MaxDomains: c.most, FirstNode: c.first, Prefer: []string{"d", "c", "b", "a"},
			Pods: []workload.Pod{{ID: "new", Requests: workload.Resources{"cpu": 1}}}}
		list, err := p.Placements(snapshotOf(t, st), r)
		got := ""
		for _, c := range list {
			got += c.Domain
		}
		if err != nil || got != c.want {
			t.Errorf("at most %d from %d on: %s, %v; want %s", c.most, c.first, got, err, c.want)
		}
		if list, err := p.Placements(snapshotOf(t, placement.State{}), placement.Request{MaxDomains: c.most, FirstNode: c.first, Pods: r.Pods}); err != nil || len(list) != 0 {
			t.Errorf("without nodes: %v, %v", list, err)
		}
	}
}

// A group that is set again keeps the promises to its pods, each once: who is not of lower
// priority finds what is left, no less.
func TestSetGroupKeepsPromisesOnce(t *testing.T) {
	promised := workload.Pod{ID: "p", Group: "g", Node: "a", Requests: workload.Resources{"cpu": 1}}
	s := snapshotOf(t, placement.State{
		Nodes:     []workload.Node{{Name: "a", Capacity: workload.Resources{"cpu": 2}}},
		Nominated: []workload.Pod{promised},
		Groups:    []workload.PodGroup{{ID: "g", Priority: 5}},
	})
	p, err := placement.New(placement.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if s, err = s.With(placement.SetGroup(workload.PodGroup{ID: "g", Priority: 5})); err != nil {
			t.Fatal(err)
		}
		for cpu, want := range map[int64]preemption.Outcome{1: preemption.Fits, 2: preemption.Impossible} {
			d, err := p.Decide(s, placement.Request{Pods: []workload.Pod{{ID: "other", Requests: workload.Resources{"cpu": cpu}}}})
			if err != nil || d.Outcome != want || len(s.State().Nominated) != 1 {
				t.Errorf("%d beside the promise: %v, %v; want %v", cpu, d.Outcome, err, want)
			}
		}
	}
}

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

// A budget has its name alone, whichever pods it may cover.
func TestBudgetsOfOneName(t *testing.T) {
	one := workload.DisruptionBudget{Name: "b", Selector: &workload.LabelSelector{}}
	other := one
	other.LabelledOnly = true
	_, err := placement.NewSnapshot(placement.State{Budgets: []workload.DisruptionBudget{one, other}})
	wantFaults(t, err, `budgets[1]: "b" of namespace "" is there already: budgets[0]`)
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
