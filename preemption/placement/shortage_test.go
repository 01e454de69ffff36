package placement_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

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
