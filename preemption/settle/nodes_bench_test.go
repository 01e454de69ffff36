package settle_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/workload"
)

// BenchmarkDrain empties ten nodes of 5,000 with 85,000 pods.
func BenchmarkDrain(b *testing.B) {
	const nodes, each = 5000, 17
	var st placement.State
	for n := range nodes {
		name := fmt.Sprintf("node-%04d", n)
		st.Nodes = append(st.Nodes, workload.Node{Name: name, Capacity: workload.Resources{"cpu": each, workload.PodsResource: 110}})
		for i := range each {
			st.Pods = append(st.Pods, workload.Pod{ID: fmt.Sprintf("ns/%04d-%02d", n, i), Namespace: "ns", Node: name, Priority: int32(i % 5), Requests: workload.Resources{"cpu": 1}})
		}
	}
	s, err := placement.NewSnapshot(st)
	if err != nil {
		b.Fatal(err)
	}
	r := settle.NodesRequest{Now: now}
	for n := range 10 {
		r.Empty = append(r.Empty, fmt.Sprintf("node-%04d", 400*n))
	}
	for name, only := range map[string][]string{"these": r.Empty, "all": nil} {
		r.Nodes = only
		b.Run("asked="+name, func(b *testing.B) {
			for b.Loop() {
				a, err := settle.DecideNodes(nil, s, r)
				if err != nil || len(a.Victims) != 10*each {
					b.Fatal(len(a.Victims), err)
				}
			}
		})
	}
}
