package kai_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
)

// The objects may come as JSON, from an API server or an unstructured object. Where the pods of a group need room on nodes, a
// placement.Fit is the room of the request.
func Example() {
	var objects kai.Objects
	add := func(object kai.Object, text string) {
		if err := json.Unmarshal([]byte(text), object); err != nil {
			fmt.Println(err)
		}
		objects.Add(object)
	}
	const resources = `"resources":{"cpu":{"limit":-1},"memory":{"limit":-1},"gpu":{"quota":4,"limit":-1,"overQuotaWeight":1}}`
	add(new(kai.Queue), `{"metadata":{"name":"vision"},"spec":{`+resources+`}}`)
	add(new(kai.Queue), `{"metadata":{"name":"speech"},"spec":{`+resources+`}}`)
	add(new(kai.Node), `{"metadata":{"name":"node-1"},"status":{"allocatable":{"cpu":"64","nvidia.com/gpu":"8"}}}`)
	for i, group := range []string{"old", "new", "ask"} {
		queue, node := "speech", `"nodeName":"node-1",`
		if group == "ask" {
			queue, node = "vision", ""
		}
		add(new(kai.PodGroup), fmt.Sprintf(`{"metadata":{"name":"%s","namespace":"n","creationTimestamp":"2026-05-04T0%d:00:00Z"},"spec":{"queue":"%s"}}`, group, i, queue))
		add(new(kai.Pod), fmt.Sprintf(`{"metadata":{"name":"%s-0","namespace":"n","annotations":{"pod-group-name":"%[1]s"}},
			"spec":{%s"containers":[{"resources":{"requests":{"nvidia.com/gpu":"4"}}}]}}`, group, node))
	}
	cluster := objects.Cluster()
	snapshot, err := preemption.NewSnapshot(cluster.State)
	if err != nil {
		fmt.Println(err)
		return
	}
	nodes, err := placement.NewSnapshot(cluster.Nodes)
	if err != nil {
		fmt.Println(err)
		return
	}
	ask := cluster.Pending[0]
	room, err := new(placement.Preemptor).Fit(nodes, placement.Request{Group: ask.Workload.ID, MinCount: len(ask.Pods), Pods: ask.Pods})
	if err != nil {
		fmt.Println(err)
		return
	}
	preemptor, err := preemption.New(preemption.Config{Sharing: preemption.KAI})
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := preemptor.Decide(snapshot, preemption.Request{Workload: ask.Workload, Room: room, Now: time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)})
	fmt.Println(d.Outcome, d.Victims[0].Workload, err)
	for _, q := range snapshot.FairShares() {
		gpu := q.Shares[2]
		fmt.Printf("%s: fair share %d, in use %d\n", q.Queue, gpu.FairShare, gpu.Usage)
	}
	// Output:
	// Preempt n/new <nil>
	// speech: fair share 4000, in use 8000
	// vision: fair share 4000, in use 0
}
