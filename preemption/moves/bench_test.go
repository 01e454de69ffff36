package moves_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// fleet is 5,000 nodes with 85,000 pods. On each node a twentieth is free, on one of ten nodes a fifth.
func fleet(b *testing.B) *placement.Snapshot {
	const nodes, each = 5000, 17
	var st placement.State
	for n := range nodes {
		free := int64(1000)
		if n%10 == 3 {
			free = 4000
		}
		name := fmt.Sprintf("node-%04d", n)
		st.Nodes = append(st.Nodes, workload.Node{Name: name, Capacity: workload.Resources{"cpu": each*1000 + free, "memory": 96 << 30, workload.PodsResource: 110}})
		for i := range each {
			st.Pods = append(st.Pods, workload.Pod{
				ID: fmt.Sprintf("ns/%04d-%02d", n, i), Namespace: "ns", Node: name, Priority: int32((n*7 + i) % 5),
				Started: now.Add(-time.Duration((n*13+i*7)%5000) * time.Second), Requests: workload.Resources{"cpu": 1000, "memory": 4 << 30},
			})
		}
	}
	return snapshot(b, st)
}

// BenchmarkDecide compares decisions about a pod that needs four pods' room, and a group of such pods, with and without moves.
func BenchmarkDecide(b *testing.B) {
	s := fleet(b)
	for _, size := range []int{1, 20} {
		r := placement.Request{Priority: 10, Now: now, MinCount: size}
		for i := range size {
			r.Pods = append(r.Pods, workload.Pod{ID: fmt.Sprintf("new-%d", i), Requests: workload.Resources{"cpu": 6000, "memory": 8 << 30}})
		}
		if size > 1 {
			r.Group = "gang"
		}
		run := func(name string, decide func() (preemption.Outcome, error)) {
			b.Run(fmt.Sprintf("pods=%d/%s", size, name), func(b *testing.B) {
				for b.Loop() {
					if outcome, err := decide(); err != nil || outcome != preemption.Preempt {
						b.Fatal(outcome, err)
					}
				}
			})
		}
		p := must(placement.New(placement.Config{}))(b)
		run("without", func() (preemption.Outcome, error) {
			d, err := p.Decide(s, r)
			return d.Outcome, err
		})
		for name, c := range map[string]moves.Config{"moves": {}, "prefer": {Prefer: true}, "only": {Price: mustMove}} {
			run(name, func() (preemption.Outcome, error) {
				d, err := moves.Decide(p, s, r, c)
				return d.Decision.Outcome, err
			})
		}
	}
}
