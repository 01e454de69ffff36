package kai_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/preemption"
)

// The objects may come as JSON, from an API server or an unstructured object. What quota alone decides is in doubt: KAI goes
// by its nodes and fair shares, too.
func Example() {
	var queue kai.Queue
	var runs, waits kai.PodGroup
	for text, into := range map[string]any{
		`{"metadata":{"name":"team"},"spec":{"resources":{"gpu":{"quota":8,"limit":-1}}}}`: &queue,
		`{"metadata":{"name":"runs","namespace":"n"},"spec":{"queue":"team","priorityClassName":"train"},
			"status":{"resourcesStatus":{"allocated":{"nvidia.com/gpu":"8"}}}}`: &runs,
		`{"metadata":{"name":"waits","namespace":"n"},"spec":{"queue":"team","priorityClassName":"build-preemptible"},
			"status":{"resourcesStatus":{"requested":{"nvidia.com/gpu":"2"}}}}`: &waits,
	} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			fmt.Println(err)
		}
	}
	var objects kai.Objects
	objects.Add(&queue)
	objects.Add(&runs)
	objects.Add(&waits)
	cluster := objects.Cluster()
	snapshot, err := preemption.NewSnapshot(cluster.State)
	if err != nil {
		fmt.Println(err)
		return
	}
	var preemptor *preemption.Preemptor // nil decides by the zero Config
	d, err := preemptor.Decide(snapshot, preemption.Request{Workload: cluster.Pending[0].Workload, Now: time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)})
	fmt.Println(d.Outcome, d.Victims[0].Workload, err)
	for _, n := range cluster.DoubtsOn("n/waits", "team") {
		fmt.Println(n)
	}
	// Output:
	// Preempt n/runs <nil>
	// PodGroup n/runs: none of its pods is in the input: KAI sums up what they hold
	// none of its pods is in the input: KAI sums up what they ask for
}
