package state

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cedesched/cede/workload"
)

// TestLongRunGone: where more pods in a row are gone than are looked for, the order goes on behind
// them all the same, and the answer is that without an order.
func TestLongRunGone(t *testing.T) {
	var st State
	for i := range 3 {
		st.Nodes = append(st.Nodes, workload.Node{Name: fmt.Sprint("n", i)})
		for k := range 2 * near {
			st.Pods = append(st.Pods, workload.Pod{ID: fmt.Sprintf("%d/%03d", i, k), Node: st.Nodes[i].Name})
		}
	}
	c, err := New(&st)
	if err != nil {
		t.Fatal(err)
	}
	order := c.podsByNode()
	slices.Reverse(order)
	list := make([]workload.Pod, len(order))
	for i, p := range order {
		list[i] = p.Facts
	}
	const first, gone = 10, near + near/2
	list = slices.Delete(list, first, first+gone)
	d, equal, inOrder := c.comparePods(list, order)
	plain, same, _ := c.comparePods(list, nil)
	if len(d.Come) > 0 || len(d.Gone) != gone || len(plain.Gone) != gone || !slices.Equal(equal, same) || inOrder {
		t.Errorf("%d come, %d gone (without an order %d), in order: %v", len(d.Come), len(d.Gone), len(plain.Gone), inOrder)
	}
	var behind places
	from := []int{0, 2 * near, 4 * near}
	if at, ok := after(order, first, order[first+3]); at != first+4 || !ok {
		t.Errorf("behind one that is near the order goes on at %d, %v", at, ok)
	}
	p := order[first+gone]
	if at := behind.after(c, order, first, p, from, from[p.Node]+c.indexOf(p)); at != first+gone+1 {
		t.Errorf("the order goes on at %d, want %d", at, first+gone+1)
	}
}

// A pod of another snapshot, on a node that this one does not have, is not found: however many nodes there are.
func TestPodsOfMoreNodes(t *testing.T) {
	var st State
	var before *Cluster
	for i := range 20 {
		st.Nodes = append(st.Nodes, workload.Node{Name: fmt.Sprintf("n%02d", i)})
		st.Pods = append(st.Pods, workload.Pod{ID: fmt.Sprintf("p%02d", i), Node: st.Nodes[i].Name})
		c, err := New(&st)
		if err != nil {
			t.Fatal(err)
		}
		p := c.Pod(st.Pods[i].ID)
		if c.indexOf(p) != 0 || before != nil && before.indexOf(p) != -1 {
			t.Errorf("pod %d is at %d of its node", i, c.indexOf(p))
		}
		before = c
	}
}
