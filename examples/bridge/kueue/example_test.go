package kueue_test

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kueue"
	"github.com/cedesched/cede/preemption"
)

// A controller holds Kueue's objects in memory, and asks for the workloads that wait.
func Example() {
	now := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	count, weight := int64(2), bridge.Units(1)
	var objects kueue.Objects
	for _, o := range []kueue.Object{
		&kueue.ResourceFlavor{Metadata: bridge.Metadata{Name: "h100"}},
		&kueue.ClusterQueue{Metadata: bridge.Metadata{Name: "vision"}, Spec: kueue.ClusterQueueSpec{
			Preemption:  kueue.Preemption{WithinClusterQueue: "LowerPriority"},
			FairSharing: kueue.FairSharing{Weight: &weight}, AdmissionChecks: []string{"budget"},
			ResourceGroups: []kueue.ResourceGroup{{Flavors: []kueue.FlavorQuotas{{Name: "h100", Resources: []kueue.ResourceQuota{{Name: "nvidia.com/gpu", NominalQuota: bridge.Units(8)}}}}}},
		}},
		&kueue.LocalQueue{Metadata: bridge.Metadata{Name: "lq", Namespace: "team"}, Spec: kueue.LocalQueueSpec{ClusterQueue: "vision"}},
		&kueue.Workload{Metadata: bridge.Metadata{Name: "runs", Namespace: "team"}, Status: kueue.WorkloadStatus{
			Conditions: []kueue.Condition{{Type: "QuotaReserved", Status: "True"}},
			Admission: &kueue.Admission{ClusterQueue: "vision", PodSetAssignments: []kueue.PodSetAssignment{{
				Name: "main", Flavors: map[string]string{"nvidia.com/gpu": "h100"}, ResourceUsage: bridge.ResourceList{"nvidia.com/gpu": bridge.Units(8)}}}},
		}},
		&kueue.Workload{Metadata: bridge.Metadata{Name: "waits", Namespace: "team"}, Spec: kueue.WorkloadSpec{
			QueueName: "lq", Priority: 10, PodSets: []kueue.PodSet{{Name: "main", Count: &count, Template: kueue.PodTemplate{Spec: kueue.PodSpec{PodSpec: bridge.PodSpec{
				Containers: []bridge.Container{{Resources: bridge.Resources{Requests: bridge.ResourceList{"nvidia.com/gpu": bridge.Units(4)}}}}}}}}}}},
	} {
		if _, err := objects.Add(o); err != nil {
			fmt.Println(err)
		}
	}
	cluster := objects.Cluster()
	snapshot, err := preemption.NewSnapshot(cluster.State)
	if err != nil {
		fmt.Println(err)
		return
	}
	var preemptor *preemption.Preemptor // nil decides by the zero Config
	for _, p := range cluster.Pending {
		d, err := preemptor.Decide(snapshot, preemption.Request{Workload: p.Workload, Now: now})
		fmt.Println(p.Workload.ID, d.Outcome, d.Victims[0].Workload, err)
		fmt.Println(cluster.QueueNotes[p.Workload.Queue][0])
	}
	// Output:
	// team/waits Preempt team/runs <nil>
	// ClusterQueue vision admits a workload with quota only when its admission checks are ready: budget
}
