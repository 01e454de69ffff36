package kubernetes_test

import (
	"fmt"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kubernetes"
	"github.com/cedesched/cede/preemption/placement"
)

// A scheduler holds nodes and pods in memory, and asks for the pods that wait.
func Example() {
	var objects kubernetes.Objects
	objects.Add(&kubernetes.Node{Metadata: bridge.Metadata{Name: "node-1"}, Status: kubernetes.NodeStatus{
		Allocatable: bridge.ResourceList{"cpu": bridge.Units(4), "pods": bridge.Units(110)}}})
	for i, name := range []string{"runs", "waits"} {
		priority := int32(10 * i)
		pod := &kubernetes.Pod{Metadata: bridge.Metadata{Name: name, Namespace: "n"}, Spec: bridge.PodSpec{Priority: &priority,
			Containers: []bridge.Container{{Resources: bridge.Resources{Requests: bridge.ResourceList{"cpu": bridge.Milli(2500)}}}}}}
		if name == "runs" {
			pod.Spec.NodeName = "node-1"
		}
		objects.Add(pod)
	}
	cluster := objects.Cluster()
	snapshot, err := cluster.Snapshot()
	if err != nil {
		fmt.Println(err)
		return
	}
	preemptor, err := placement.New(placement.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range cluster.Pending {
		d, err := preemptor.Decide(snapshot, p.Request)
		fmt.Println(p.ID, d.Outcome, d.Victims[0].Pods[0], err)
	}
	// Output: n/waits Preempt n/runs <nil>
}
