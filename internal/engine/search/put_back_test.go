package search

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
)

// Wholes has the workloads that go as a whole, and of which replicas could yield, few of them or many: so a look at all
// victims says.
func TestWholes(t *testing.T) {
	for _, n := range []int{1, fewWholes, fewWholes + 1, 10 * fewWholes} {
		var victims []right.Victim
		var k wholes
		asked := 0
		for i := range n {
			w := &cluster.Workload{Template: &cluster.Template{Surplus: []cluster.Surplus{{Count: 2}}}, Facts: cluster.Facts{ID: fmt.Sprint(i)}}
			set := -1
			if i%3 == 1 {
				set = 0 // a replica
			}
			victims = append(victims, right.Victim{Workload: w, Set: set})
			k.add(&victims[i])
			for _, v := range victims {
				asked++
				if got, want := k.has(v.Workload), right.GoesWhole(v.Workload, victims); got != want {
					t.Errorf("of %d, workload %s: %v, want %v", i+1, v.Workload.Facts.ID, got, want)
				}
			}
		}
		if asked < n || len(k.list) != n-(n+1)/3 {
			t.Errorf("%d asked, %d of %d go as a whole", asked, len(k.list), n)
		}
	}
}
