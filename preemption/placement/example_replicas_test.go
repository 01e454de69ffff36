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

// An elastic workload of four replicas is on four nodes; two of them are surplus. For a request of one
// GPU one replica yields, by quota and on the nodes: the last by name.
func ExampleFit_PodSets() {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	one := workload.Resources{"gpu": 1}
	var nodes placement.State
	for i := range 4 {
		node := fmt.Sprintf("n%d", i)
		nodes.Nodes = append(nodes.Nodes, workload.Node{Name: node, Capacity: one})
		nodes.Pods = append(nodes.Pods, workload.Pod{ID: fmt.Sprintf("train-%d", i), Group: "train", Node: node, Requests: one,
			Labels: map[string]string{"pod-set": "workers"}})
	}
	machines, err := placement.NewSnapshot(nodes)
	if err != nil {
		panic(err)
	}
	pods := func(name string, count int64) workload.PodSet {
		return workload.PodSet{Name: name, Count: count, Requests: []quota.Amount{{Flavor: "h100", Resource: "gpu", Amount: 1}}}
	}
	train := workload.Workload{ID: "train", Queue: "lab", ReservedAt: now.Add(-time.Hour), PodSets: []workload.PodSet{pods("workers", 4)}}
	train.PodSets[0].MinCount = workload.AtLeast(2)
	quotas, err := preemption.NewSnapshot(preemption.State{
		Queues: []queue.Queue{{Name: "lab", Quotas: []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: 4}},
			Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}},
		Admitted: []workload.Workload{train},
	})
	if err != nil {
		panic(err)
	}
	room, err := new(placement.Preemptor).Fit(machines, placement.Request{Pods: []workload.Pod{{ID: "urgent-0", Requests: one}}})
	if err != nil {
		panic(err)
	}
	room.PodSets(func(p workload.Pod) string { return p.Labels["pod-set"] }, nil)
	urgent := workload.Workload{ID: "urgent", Queue: "lab", Priority: 9, PodSets: []workload.PodSet{pods("main", 1)}}
	d, err := new(preemption.Preemptor).Decide(quotas, preemption.Request{Workload: urgent, Now: now, Room: room})
	fmt.Println(d.Outcome, err)
	for _, v := range d.Victims {
		for _, r := range v.Replicas {
			fmt.Println(v.Workload, r.PodSet, room.Replicas(v.Workload, r.PodSet)[:r.Count])
		}
	}
	// Output:
	// Preempt <nil>
	// train workers [train-3]
}
