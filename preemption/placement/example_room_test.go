package placement_test

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Quota and nodes together. By quota alone "spread" would yield, as its priority is the lowest.
// But that leaves no node with room for a pod of 4 GPUs: "packed" yields, and nobody else.
func ExamplePreemptor_Fit() {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	gpus := func(n int64) workload.Resources { return workload.Resources{"gpu": n} }
	nodes, err := placement.NewSnapshot(placement.State{
		Nodes: []workload.Node{{Name: "n1", Capacity: gpus(4)}, {Name: "n2", Capacity: gpus(4)}},
		Pods: []workload.Pod{
			{ID: "spread-0", Group: "spread", Node: "n1", Requests: gpus(2)},
			{ID: "other-0", Group: "other", Node: "n1", Requests: gpus(2)},
			{ID: "packed-0", Group: "packed", Node: "n2", Requests: gpus(4)},
		},
	})
	if err != nil {
		panic(err)
	}
	running := func(id string, priority, gpus int64) workload.Workload {
		return workload.Workload{ID: id, Queue: "lab", Priority: priority, ReservedAt: now.Add(-time.Hour), PodSets: []workload.PodSet{
			{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "h100", Resource: "gpu", Amount: gpus}}}}}
	}
	quotas, err := preemption.NewSnapshot(preemption.State{
		Queues: []queue.Queue{{Name: "lab", Quotas: []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: 10}},
			Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}},
		Admitted: []workload.Workload{running("spread", 1, 2), running("packed", 2, 4), running("other", 10, 2)},
	})
	if err != nil {
		panic(err)
	}
	urgent := running("urgent", 9, 4)
	urgent.ReservedAt = time.Time{}
	room, err := new(placement.Preemptor).Fit(nodes, placement.Request{Priority: 9, Pods: []workload.Pod{{ID: "urgent-0", Requests: gpus(4)}}})
	if err != nil {
		panic(err)
	}
	for _, room := range []preemption.Room{nil, room} {
		d, err := new(preemption.Preemptor).Decide(quotas, preemption.Request{Workload: urgent, Now: now, Room: room})
		fmt.Println(d.Outcome, err)
		for _, v := range d.Victims {
			fmt.Println(v.Workload)
		}
	}
	// Output:
	// Preempt <nil>
	// spread
	// Preempt <nil>
	// packed
}

// apart keeps pods of the same group on different nodes.
type apart struct{}

func (apart) Feasible(workload.Pod, workload.Node) bool { return true }
func (apart) Conflict(pod, other workload.Pod) bool {
	return pod.Group != "" && pod.Group == other.Group && pod.Node == other.Node
}
func (apart) Reach() placement.Reach { return placement.ReachNode }

// A filter is a rule of your own about where pods may run.
func ExampleFilter() {
	s, err := placement.NewSnapshot(placement.State{Nodes: []workload.Node{
		{Name: "n1", Capacity: workload.Resources{"gpu": 8}}, {Name: "n2", Capacity: workload.Resources{"gpu": 8}}}})
	if err != nil {
		panic(err)
	}
	p, err := placement.New(placement.Config{Filters: []placement.Filter{apart{}}})
	if err != nil {
		panic(err)
	}
	one := workload.Resources{"gpu": 1}
	d, err := p.Decide(s, placement.Request{Group: "web", MinCount: 2, Pods: []workload.Pod{{ID: "web-0", Requests: one}, {ID: "web-1", Requests: one}}})
	fmt.Println(d.Outcome, d.Nominations, err)
	// Output:
	// Fits [{web-0 n1} {web-1 n2}] <nil>
}
