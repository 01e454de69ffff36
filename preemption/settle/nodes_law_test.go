package settle_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/workload"
)

// nodesCase draws a state in which nodes lost capacity, and a request about it.
func nodesCase(t *rapid.T) (placement.State, placement.Config, settle.NodesRequest) {
	st := preemptiontest.PlacementStates().Draw(t, "state")
	c := preemptiontest.PlacementConfigs().Draw(t, "config")
	c.SetFilters, c.Filters = nil, nil // they say where pods may be placed
	r := settle.NodesRequest{Now: preemptiontest.Now}
	var names []string
	for i := range st.Nodes {
		n := st.Nodes[i].Clone()
		for _, resource := range slices.Sorted(maps.Keys(n.Capacity)) {
			n.Capacity[resource] /= rapid.SampledFrom([]int64{1, 1, 2, 4}).Draw(t, "part")
		}
		st.Nodes[i], names = n, append(names, n.Name)
	}
	some := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 2, rapid.ID[string])
	if len(names) > 0 {
		r.Empty = some.Draw(t, "empty")
		if rapid.IntRange(0, 3).Draw(t, "named") == 0 {
			r.Nodes = some.Draw(t, "nodes")
		}
	}
	return st, c, r
}

func decidedNodes(t *rapid.T, c placement.Config, st placement.State, r settle.NodesRequest) settle.NodesAnswer {
	s, err := placement.NewSnapshot(st)
	if err != nil {
		t.Fatal(err)
	}
	p, err := placement.New(c)
	if err != nil {
		t.Fatal(err)
	}
	a, err := settle.DecideNodes(p, s, r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The judge has nothing against any answer.
func nodeAnswersVerify(t *rapid.T) {
	st, c, r := nodesCase(t)
	a := decidedNodes(t, c, st, r)
	if err := verify.NodeSettlement(st, r, c, a); err != nil {
		t.Fatalf("%v\n%s", err, toldOfNodes(a))
	}
}

func TestNodeAnswersVerify(t *testing.T) { rapid.Check(t, nodeAnswersVerify) }

// After the victims have left no more leave, and what remains is the same; and at RetryAt, having settled at each MoreAt, nothing
// remains.
func nodesSettle(t *rapid.T) {
	st, c, r := nodesCase(t)
	c.Budgets = placement.Soft // those that are left allow less: the caller says how much
	first := decidedNodes(t, c, st, r)
	left := func(a settle.NodesAnswer) {
		st.Pods = slices.DeleteFunc(slices.Clone(st.Pods), func(p workload.Pod) bool {
			return slices.ContainsFunc(a.Victims, func(v placement.Victim) bool { return slices.Contains(v.Pods, p.ID) })
		})
	}
	left(first)
	if again := decidedNodes(t, c, st, r); len(again.Victims) > 0 || !slices.Equal(again.Remaining, first.Remaining) {
		t.Fatalf("first %s\nagain %s", toldOfNodes(first), toldOfNodes(again))
	}
	then, at := first, time.Time{}
	for !then.MoreAt.IsZero() {
		if !then.MoreAt.After(r.Now) {
			t.Fatalf("more may leave now: %s", toldOfNodes(then))
		}
		r.Now, at = then.MoreAt, then.MoreAt
		then = decidedNodes(t, c, st, r)
		left(then)
	}
	if len(then.Remaining) == 0 != (!first.RetryAt.IsZero() || len(first.Remaining) == 0) || len(then.Remaining) == 0 && !first.RetryAt.Equal(at) {
		t.Fatalf("first %s\nat %v %s", toldOfNodes(first), at, toldOfNodes(then))
	}
}

func TestNodesSettle(t *testing.T) { rapid.Check(t, nodesSettle) }
