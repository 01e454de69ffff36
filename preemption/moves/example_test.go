package moves_test

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Two racks are to be empty. The gang on r1 moves whole; the pod that may run nowhere else keeps r3.
func ExampleClear() {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	gpus := func(n int64) workload.Resources { return workload.Resources{"gpu": n} }
	s, err := placement.NewSnapshot(placement.State{
		Nodes: []workload.Node{
			{Name: "r1-a", Capacity: gpus(8)}, {Name: "r1-b", Capacity: gpus(8)}, {Name: "r2-a", Capacity: gpus(8)}, {Name: "r3-a", Capacity: gpus(8)},
		},
		Groups: []workload.PodGroup{{ID: "gang", DisruptionMode: workload.DisruptionModePodGroup}},
		Pods: []workload.Pod{
			{ID: "gang-0", Group: "gang", Node: "r1-a", Requests: gpus(2)}, {ID: "gang-1", Group: "gang", Node: "r1-b", Requests: gpus(2)},
			{ID: "serves", Node: "r2-a", Requests: gpus(3)}, {ID: "local", Node: "r3-a", Nowhere: true, Requests: gpus(1)},
		},
	})
	if err != nil {
		panic(err)
	}
	racks := []placement.Domain{{Name: "r1", Nodes: []string{"r1-a", "r1-b"}}, {Name: "r2", Nodes: []string{"r2-a"}}, {Name: "r3", Nodes: []string{"r3-a"}}}
	noneYields := moves.Config{Price: func(placement.Unit) (yield, move int64) { return -1, 0 }}
	a, err := moves.Clear(nil, s, moves.ClearRequest{Now: now, Domains: racks, Count: 2}, noneYields)
	if err != nil {
		panic(err)
	}
	fmt.Print(explain.Printer{}.ClearText(a))
	a, err = moves.Clear(nil, s, moves.ClearRequest{Now: now, Domains: racks, Count: 3}, noneYields)
	if err != nil {
		panic(err)
	}
	fmt.Println()
	fmt.Print(explain.Printer{}.ClearText(a))
	// Output:
	// To be empty: r2, r1, once group gang, serves have moved.
	//
	// What one, two and more of them cost
	//   1, r2 last: 0 lost; 1 unit moves, 0 units yield; 1 pod stops
	//   2, r1 last: 0 lost; 2 units move, 0 units yield; 3 pods stop
	//
	// What moves
	//   gang-0: from r1-a to r3-a
	//   gang-1: from r1-b to r3-a
	//   serves: from r2-a to r3-a
	// In all 3 pods stop, 0 lost.
	//
	// In which order
	//   1. stop gang-0, gang-1, serves; start gang-0 on r3-a; start gang-1 on r3-a;
	//     start serves on r3-a
	//
	// Fewer can be emptied than are asked until something changes: r2, r1.
	//
	// What one, two and more of them cost
	//   1, r2 last: 0 lost; 1 unit moves, 0 units yield; 1 pod stops
	//   2, r1 last: 0 lost; 2 units move, 0 units yield; 3 pods stop
	//
	// What moves
	//   gang-0: from r1-a to r3-a
	//   gang-1: from r1-b to r3-a
	//   serves: from r2-a to r3-a
	// In all 3 pods stop, 0 lost.
	//
	// In which order
	//   1. stop gang-0, gang-1, serves; start gang-0 on r3-a; start gang-1 on r3-a;
	//     start serves on r3-a
	//
	// What keeps the others
	//   r3: group gang has no other place and must not yield
}

func ExampleDecide() {
	gpus := func(n int64) workload.Resources { return workload.Resources{"gpu": n} }
	s, err := placement.NewSnapshot(placement.State{
		Nodes: []workload.Node{{Name: "a", Capacity: gpus(8)}, {Name: "b", Capacity: gpus(8)}},
		Pods: []workload.Pod{
			{ID: "small", Node: "a", Requests: gpus(2)}, {ID: "large", Node: "a", Requests: gpus(4)}, {ID: "other", Priority: 9, Node: "b", Requests: gpus(5)},
		},
	})
	if err != nil {
		panic(err)
	}
	d, err := moves.Decide(nil, s, placement.Request{Priority: 5, Pods: []workload.Pod{{ID: "new", Requests: gpus(7)}}}, moves.Config{})
	if err != nil {
		panic(err)
	}
	fmt.Println(d.Decision.Outcome)
	for _, m := range d.Moves {
		fmt.Println(m.Pods)
	}
	fmt.Println(d.Yields()[0].Pods, d.Cost)
	for _, step := range d.Steps {
		fmt.Println(step)
	}
	// Output:
	// Preempt
	// [{small a b}]
	// [large] {1 2}
	// {[large small] [{new a} {small b}]}
}
