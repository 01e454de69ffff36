package preemption_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// A way of fewer replicas lowers the least number of replicas only if that is above it.
func TestWayOfReplicasKeepsMinCount(t *testing.T) {
	s := snapshotOf(t, preemption.State{})
	for _, c := range []struct{ least, replicas, want int64 }{{3, 2, 2}, {2, 3, 2}, {2, 2, 2}} {
		r := pending("a", 0, 1)
		r.Workload.PodSets[0].Count, r.Workload.PodSets[0].MinCount = 4, workload.AtLeast(c.least)
		w := preemption.Way{Kind: preemption.WayReplicas, PodSet: r.Workload.PodSets[0].Name, Replicas: c.replicas}
		_, r, err := w.Apply(s, r)
		if err != nil {
			t.Fatal(err)
		}
		p := r.Workload.PodSets[0]
		if least, _ := p.MinCount.Get(); p.Count != c.replicas || least != c.want {
			t.Errorf("%d of at least %d replicas: %d of at least %d", c.replicas, c.least, p.Count, least)
		}
	}
}
