package placement_test

import (
	"fmt"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// A group of two pods needs two nodes of eight GPUs. A group of lower priority runs on two
// of three; it yields as one, and the pod of higher priority stays.
func Example() {
	gpus := func(n int64) workload.Resources { return workload.Resources{"nvidia.com/gpu": n} }
	snapshot, err := placement.NewSnapshot(placement.State{
		Nodes: []workload.Node{{Name: "a", Capacity: gpus(8)}, {Name: "b", Capacity: gpus(8)}, {Name: "c", Capacity: gpus(8)}},
		Groups: []workload.PodGroup{
			{ID: "lab/sweep", Priority: 10, DisruptionMode: workload.DisruptionModePodGroup},
		},
		Pods: []workload.Pod{
			{ID: "web/chat", Priority: 100, Node: "a", Requests: gpus(4)},
			{ID: "lab/sweep-0", Group: "lab/sweep", Node: "b", Requests: gpus(8)},
			{ID: "lab/sweep-1", Group: "lab/sweep", Node: "c", Requests: gpus(2)},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	preemptor, err := placement.New(placement.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	decision, err := preemptor.Decide(snapshot, placement.Request{
		Group: "lab/train", Priority: 1000, MinCount: 2,
		Pods: []workload.Pod{{ID: "lab/train-0", Requests: gpus(8)}, {ID: "lab/train-1", Requests: gpus(8)}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(decision.Outcome, decision.Nominations)
	for _, v := range decision.Victims {
		fmt.Println(v.Group, v.Pods, v.Priority)
	}
	// Output:
	// Preempt [{lab/train-0 b} {lab/train-1 c}]
	// lab/sweep [lab/sweep-0 lab/sweep-1] 10
}
