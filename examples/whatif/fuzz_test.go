package main

import (
	"bytes"
	"strings"
	"testing"
)

// smallCluster is a queue, a workload that runs in it and one that waits.
const smallCluster = `{"kind":"List","items":[
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"f"}},
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"vision"},"spec":{"cohortName":"c","namespaceSelector":{},
"preemption":{"withinClusterQueue":"LowerPriority"},"resourceGroups":[{"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"4"}]}]}]}},
{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"LocalQueue","metadata":{"name":"l","namespace":"a"},"spec":{"clusterQueue":"vision"}},
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"runs","namespace":"a"},"spec":{"queueName":"l","podSets":[{"name":"main","count":3}]},
"status":{"admission":{"clusterQueue":"vision","podSetAssignments":[{"name":"main","count":3,"flavors":{"cpu":"f"},"resourceUsage":{"cpu":"3"}}]},
"conditions":[{"type":"QuotaReserved","status":"True","lastTransitionTime":"2026-11-20T09:00:00Z"}]}},
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"next","namespace":"a"},"spec":{"queueName":"l","priority":5,"podSets":[{"name":"main","count":2,
"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}}]}}]}`

// FuzzInput: whatever is piped in, the program answers, or says in one line why not.
func FuzzInput(f *testing.F) {
	f.Add([]byte(smallCluster), "a/next", "")
	f.Add([]byte(smallCluster), "", "cpu=4,nvidia.com/gpu=2")
	f.Add([]byte(`{"queues":[{"name":"vision","quotas":[{"flavor":"f","resource":"cpu","nominal":1}]}]}`), "", "cpu=4")
	f.Add([]byte(`{"state":{"queues":[{"name":"a"}]},"request":{"workload":{"id":"w","queue":"a"},"now":"2026-01-01T00:00:00Z"}}`), "", "")
	f.Add([]byte(racked{nominal: 16, nodes: "h0 h1", runs: []string{"a 0 1 h0"}, pods: busy("h0", 0, ""), ask: "{required: rack}", count: 2, gpus: 4}.yaml()), "team/new", "")
	f.Fuzz(func(t *testing.T, data []byte, workload, request string) {
		args := []string{"-f", "-", "-workload", workload}
		if request != "" {
			args = []string{"-f", "-", "-request", request, "-queue", "vision", "-o", "json"}
		}
		status, stdout, stderr := call(bytes.NewReader(data), args...)
		switch {
		case status == 2:
			if stdout != "" || strings.Count(stderr, "\n") != 1 {
				t.Errorf("stdout %q, stderr %q", stdout, stderr)
			}
		case status > 3, stdout == "":
			t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
		}
	})
}
