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
		if got := text(decide(t, c, snapshotOf(t, st), r)); got != want {
			t.Errorf("%d nodes: %q, want %q", nodes, got, want)
		}
	}
}
