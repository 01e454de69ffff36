package right_test

import (
	"testing"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
)

// Only replicas of one surplus that yield by one right are alike: whole workloads are not, nor is another workload's surplus.
func TestAlike(t *testing.T) {
	w, other := new(cluster.Workload), new(cluster.Workload)
	replica := right.Victim{Workload: w, Set: 1}
	for name, c := range map[string]struct {
		change func(v *right.Victim)
		want   bool
	}{
		"the same":         {func(*right.Victim) {}, true},
		"another workload": {func(v *right.Victim) { v.Workload = other }, false},
		"another pod set":  {func(v *right.Victim) { v.Set = 0 }, false},
		"by shares":        {func(v *right.Victim) { v.Fair = true }, false},
	} {
		v := replica
		c.change(&v)
		if got := replica.Alike(&v); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	whole := right.Victim{Workload: w, Set: -1}
	if first := (right.Victim{Workload: w, Set: 0}); whole.Alike(&whole) || !first.Alike(&first) {
		t.Error("a whole workload is alike, or the first surplus is not")
	}
}
