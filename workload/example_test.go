package workload_test

import (
	"fmt"

	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// An elastic workload: 8 replicas, of which 6 are surplus.
func ExamplePodSet() {
	w := workload.Workload{ID: "train", Queue: "lab", PodSets: []workload.PodSet{{
		Name: "worker", Count: 8, MinCount: workload.AtLeast(2), Requests: []quota.Amount{{Flavor: "h100", Resource: "gpu", Amount: 1}}}}}
	fmt.Println(w.PodSets[0].Surplus(), workload.Validate("workload", &w))
	w.PodSets[0].Count = -1
	fmt.Println(workload.Validate("workload", &w))
	// Output:
	// 6 <nil>
	// workload.podSets[0].count: -1 is negative (workload "train")
}

// A label selector, as budgets and constraints have them.
func ExampleLabelSelector() {
	s := workload.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	fmt.Println(s.Matches(map[string]string{"app": "web", "tier": "front"}), s.Matches(map[string]string{"app": "db"}))
	// Output:
	// true false
}
