package state_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/workload"
)

// Pods of one template name the same nodes: a cluster keeps each list once, and a copy of it.
func TestListsOfNodesAreShared(t *testing.T) {
	st := state.State{Nodes: []workload.Node{{Name: "a"}, {Name: "b"}}}
	for i := range 6 {
		names := []string{"a", "b"}
		if i%2 == 1 {
			names = []string{"b"}
		}
		st.Pods = append(st.Pods, workload.Pod{ID: fmt.Sprint(i), Node: "a", Nodes: names})
	}
	c, err := state.New(&st)
	if err != nil {
		t.Fatal(err)
	}
	of := func(i int) []string { return c.Pod(fmt.Sprint(i)).Facts.Nodes }
	for i := range 6 {
		if &of(i)[0] != &of(i % 2)[0] || len(of(i)) != 2-i%2 {
			t.Errorf("pod %d: %v, want the list of pod %d", i, of(i), i%2)
		}
		if &of(i)[0] == &st.Pods[i].Nodes[0] {
			t.Errorf("pod %d: the list is that of the caller", i)
		}
	}
}
