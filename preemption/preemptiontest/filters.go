package preemptiontest

import (
	"reflect"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Apart is a filter for tests: pods with the same value of Label are on different nodes, and
// pods with the value "db" are on nodes of Zone (the node label "zone").
type Apart struct {
	Label, Zone string
	Anywhere    bool // such pods exclude each other in the whole cluster
}

// Feasible implements [placement.Filter].
func (a Apart) Feasible(pod workload.Pod, node workload.Node) bool {
	return pod.Labels[a.Label] != "db" || node.Labels["zone"] == a.Zone
}

// Conflict implements [placement.Filter].
func (a Apart) Conflict(pod, other workload.Pod) bool {
	value, has := pod.Labels[a.Label]
	return has && value == other.Labels[a.Label] && (a.Anywhere || pod.Node == other.Node)
}

// Reach implements [placement.Filter].
func (a Apart) Reach() placement.Reach {
	if a.Anywhere {
		return placement.ReachCluster
	}
	return placement.ReachNode
}

// Pinned is a guard for tests: units with a pod whose label has the value never yield;
// where Until is set, they are protected until then.
type Pinned struct {
	Label, Value string
	Until        time.Time
}

// Verdict implements [placement.Guard].
func (g Pinned) Verdict(u placement.Unit, _ placement.Request) preemption.Verdict {
	switch {
	case !slices.ContainsFunc(u.Pods, func(p workload.Pod) bool { return p.Labels[g.Label] == g.Value }):
		return preemption.MayYield()
	case g.Until.IsZero():
		return preemption.NeverYields()
	}
	return preemption.ProtectedUntil(g.Until)
}

// CheckFilter checks the laws of [placement.Filter] on generated pods and nodes: the same
// arguments give the same answer; the filter does not change its arguments; with
// [placement.ReachNode] no pods on different nodes conflict. Call it from a property.
func CheckFilter(t *rapid.T, f placement.Filter) {
	record := PlacementRecords().Draw(t, "record")
	st, r := record.State, record.Request
	pod, node := r.Pods[0].Clone(), rapid.SampledFrom(st.Nodes).Draw(t, "node").Clone()
	if first := f.Feasible(pod, node); f.Feasible(pod, node) != first {
		t.Fatalf("whether pod %q may run on node %q is %v, then not", pod.ID, node.Name, first)
	}
	pod.Node = node.Name
	before, nodeBefore := pod.Clone(), node.Clone()
	for _, other := range st.Pods {
		otherBefore := other.Clone()
		first := f.Conflict(pod, other)
		if f.Conflict(pod, other) != first {
			t.Fatalf("whether pods %q and %q conflict is %v, then not", pod.ID, other.ID, first)
		}
		if first && pod.Node != other.Node && f.Reach() == placement.ReachNode {
			t.Fatalf("pods %q and %q conflict on different nodes, against the reach", pod.ID, other.ID)
		}
		if !reflect.DeepEqual(other, otherBefore) {
			t.Fatalf("the filter changes its arguments")
		}
	}
	if f.Feasible(pod, node); !reflect.DeepEqual(pod, before) || !reflect.DeepEqual(node, nodeBefore) {
		t.Fatalf("the filter changes its arguments")
	}
}

// CheckPlacementGuard checks the laws of [placement.Guard] on generated units and requests:
// the same arguments give the same verdict; the verdict does not depend on Request.Now; the
// guard does not change its arguments. Call it from a property.
func CheckPlacementGuard(t *rapid.T, g placement.Guard) {
	record := PlacementRecords().Draw(t, "record")
	s, err := placement.NewSnapshot(record.State)
	if err != nil {
		t.Fatalf("preemptiontest: generated a state that is not valid: %v", err)
	}
	r := *record.Request
	later := r
	later.Now = r.Now.Add(time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(t, "later")))
	before := make([]workload.Pod, len(r.Pods))
	for i, p := range r.Pods {
		before[i] = p.Clone()
	}
	for i, u := range s.Units() {
		first := g.Verdict(u, r)
		if again := g.Verdict(u, r); again != first {
			t.Fatalf("the verdict on %q is %+v, then %+v", u.Pods[0].ID, first, again)
		}
		if at := g.Verdict(u, later); at != first {
			t.Fatalf("the verdict on %q is %+v at %v, and %+v at %v", u.Pods[0].ID, first, r.Now, at, later.Now)
		}
		if !reflect.DeepEqual(u, s.Units()[i]) || !reflect.DeepEqual(before, r.Pods) {
			t.Fatalf("the guard changes its arguments")
		}
	}
}
