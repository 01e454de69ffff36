package placement_test

import (
	"fmt"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Three small pods and a large one run on a node. In steps the large one is put back first, as
// its UID is the first, and so the small ones yield. The large one alone is enough.
func ExampleConfig_exact() {
	cpu := func(n int64) workload.Resources { return workload.Resources{"cpu": n} }
	snapshot, err := placement.NewSnapshot(placement.State{
		Nodes: []workload.Node{{Name: "n", Capacity: cpu(12)}},
		Pods: []workload.Pod{
			{ID: "large", UID: "a", Node: "n", Requests: cpu(6)}, {ID: "small-1", UID: "b", Node: "n", Requests: cpu(2)},
			{ID: "small-2", UID: "c", Node: "n", Requests: cpu(2)}, {ID: "small-3", UID: "d", Node: "n", Requests: cpu(2)},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	request := placement.Request{Priority: 1, Pods: []workload.Pod{{ID: "new", Requests: cpu(6)}}}
	for _, search := range []placement.Search{placement.Greedy, placement.Exact} {
		preemptor, err := placement.New(placement.Config{Search: search})
		if err != nil {
			fmt.Println(err)
			return
		}
		decision, err := preemptor.Decide(snapshot, request)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, v := range decision.Victims {
			fmt.Println(search, v.Pods)
		}
		if decision.Proof != nil {
			fmt.Println("the best:", decision.Proof.Optimal, "pods:", decision.Proof.Value.Pods)
		}
	}
	// Output:
	// Greedy [small-1]
	// Greedy [small-2]
	// Greedy [small-3]
	// Exact [large]
	// the best: true pods: 1
}
