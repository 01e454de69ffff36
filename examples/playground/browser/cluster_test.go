//go:build unix || windows

package browser_test

import (
	"bytes"
	"fmt"
	"time"
)

// Cluster makes a cluster of Kueue as kubectl prints it: so many queues in cohorts of twenty,
// with so many workloads that run and that wait. It is the same each time.
func Cluster(queues, running, waiting int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"apiVersion":"v1","kind":"List","items":[` + "\n")
	item := func(kind, format string, args ...any) {
		if b.Len() > 60 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":%q,`+format+`}`, append([]any{kind}, args...)...)
	}
	item("ResourceFlavor", `"metadata":{"name":"h100"}`)
	item("Cohort", `"metadata":{"name":"all"}`)
	for i := 0; i < queues; i += 20 {
		item("Cohort", `"metadata":{"name":"division-%03d"},"spec":{"parentName":"all"}`, i/20)
	}
	need := max(1, running*48/10/max(1, queues)) // GPUs that run in a queue, on average
	for i := range queues {
		reclaim := []string{"Any", "LowerPriority", "Never"}[i%3]
		item("ClusterQueue", `"metadata":{"name":"team-%04d"},"spec":{"cohortName":"division-%03d","namespaceSelector":{},"preemption":{"withinClusterQueue":"LowerPriority","reclaimWithinCohort":%q},"resourceGroups":[{"coveredResources":["cpu","nvidia.com/gpu"],"flavors":[{"name":"h100","resources":[{"name":"cpu","nominalQuota":"100k"},{"name":"nvidia.com/gpu","nominalQuota":"%d"}]}]}]}`,
			i, i/20, reclaim, max(1, need*(50+25*(i%5))/100))
		item("LocalQueue", `"metadata":{"name":"default","namespace":"team-%04d"},"spec":{"clusterQueue":"team-%04d"}`, i, i)
	}
	start := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for i := range running + waiting {
		queue, gpus := i*7%queues, 1+i%8
		if i%5 == 0 && queue%4 == 0 {
			queue = (queue + 1) % queues
		}
		at := start.Add(time.Duration(i%40000) * time.Second).Format(time.RFC3339)
		status := ""
		if i < running {
			status = fmt.Sprintf(`,"status":{"admission":{"clusterQueue":"team-%04d","podSetAssignments":[{"name":"main","count":1,"flavors":{"cpu":"h100","nvidia.com/gpu":"h100"},"resourceUsage":{"cpu":"%d","nvidia.com/gpu":"%d"}}]},"conditions":[{"type":"QuotaReserved","status":"True","lastTransitionTime":%q,"reason":"QuotaReserved","message":"Quota reserved"},{"type":"Admitted","status":"True","lastTransitionTime":%q,"reason":"Admitted","message":"The workload is admitted"}]}`,
				queue, gpus*8, gpus, at, at)
		}
		item("Workload", `"metadata":{"name":"job-%05d","namespace":"team-%04d","uid":"00000000-0000-4000-8000-%012d","creationTimestamp":%q},"spec":{"active":true,"queueName":"default","priority":%d,"podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[{"name":"main","image":"registry.example/train:1","resources":{"requests":{"cpu":"%d","nvidia.com/gpu":"%d"}}}],"restartPolicy":"Never"}}}]}%s`,
			i, queue, i, at, 100*(i%10), gpus*8, gpus, status)
	}
	b.WriteString("\n]}\n")
	return b.Bytes()
}
