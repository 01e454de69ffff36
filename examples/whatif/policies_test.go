package main

import (
	"strings"
	"testing"
)

// A request that is over the quota of its queue would borrow, whoever yields: the blocker names both policies, and the advice changes both.
func TestBothPolicies(t *testing.T) {
	input := strings.NewReplacer(`"metadata":{"name":"cq"},"spec":{`, `"metadata":{"name":"cq"},"spec":{"cohortName":"c",`).Replace(onHardware(8, nil, 5)) +
		strings.NewReplacer(`"name":"cq"`, `"name":"other"`, `"name":"lq"`, `"name":"others"`, `"clusterQueue":"cq"`, `"clusterQueue":"other"`, `"spec":{"names`, `"spec":{"cohortName":"c","names`).Replace(strings.Join(strings.SplitAfter(onHardware(4, nil), "\n")[:2], "")) +
		`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"idle"},"spec":{"cohortName":"c","namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":4}]}]}]}}` + "\n" +
		`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"runs","namespace":"a","uid":"r"},"spec":{"queueName":"others","priority":-1,"podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"7"}}}]}}}]},"status":{"admission":{"clusterQueue":"other","podSetAssignments":[{"name":"main","count":1,"flavors":{"cpu":"f"},"resourceUsage":{"cpu":"7"}}]},"conditions":[{"type":"QuotaReserved","status":"True","reason":"QuotaReserved","message":"","lastTransitionTime":"2026-11-20T08:30:00Z"}]}}` + "\n"
	_, out, said := call(strings.NewReader(input), "why", "a/w0")
	for _, want := range []string{
		"reclaimWithinCohort is Never; the request would borrow, and borrowWithinCohort is Never, too",
		`Set reclaimWithinCohort and borrowWithinCohort of queue "cq" to LowerPriority: it preempts a/runs`,
		"-policy cq:reclaimWithinCohort=LowerPriority -policy cq:borrowWithinCohort=LowerPriority",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("want %s:\n%s%s", want, out, said)
		}
	}
	const reclaim, both = "-policy cq:reclaimWithinCohort=Any", "-policy cq:reclaimWithinCohort=LowerPriority -policy cq:borrowWithinCohort=LowerPriority"
	for args, want := range map[string]int{reclaim: 1, both: 0} {
		if status, out, said := call(strings.NewReader(input), append([]string{"ask", "a/w0"}, strings.Fields(args)...)...); status != want {
			t.Errorf("%s: status %d, %s%s", args, status, out, said)
		}
	}
}
