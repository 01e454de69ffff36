package main

import (
	"fmt"
	"strings"
	"testing"
)

// onHardware is a queue with so many CPUs of a flavor with labels, nodes of so many CPUs each, and jobs that wait and ask for so many: of a queue of
// its own, with pods of so many each.
func onHardware(quota int, nodes []int, pods ...int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq"},"spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":%d}]}]}]}}
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"lq","namespace":"a"},"spec":{"clusterQueue":"cq"}}
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"f"},"spec":{"nodeLabels":{"kind":"large"}}}
`, quota)
	for i, cpus := range nodes {
		fmt.Fprintf(&b, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n%d","labels":{"kind":"large"}},"status":{"allocatable":{"cpu":"%d","pods":"110"},"conditions":[{"type":"Ready","status":"True"}]}}`+"\n", i, cpus)
	}
	for i, cpus := range pods {
		fmt.Fprintf(&b, `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w%d","namespace":"a","uid":"u%[1]d","creationTimestamp":"2026-11-20T08:00:00Z"},"spec":{"queueName":"lq","podSets":[{"name":"main","count":2,"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"%[2]d"}}}]}}}]},"status":{}}`+"\n", i, cpus)
	}
	return b.String()
}

// Where nodes do not have what a higher quota would promise, one sentence says so; without nodes of the flavor nothing does.
func TestNoHardwareBehindAQuota(t *testing.T) {
	const says = "    The nodes of f have 16 cpu, and all quotas together would be 20.\n"
	for name, c := range map[string]struct {
		input string
		want  bool
	}{
		"less":                {onHardware(8, []int{10, 6}, 10), true},
		"enough":              {onHardware(8, []int{16, 8}, 10), false},
		"no nodes":            {onHardware(8, nil, 10), false},
		"of another flavor":   {strings.ReplaceAll(onHardware(8, []int{10, 6}, 10), `"labels":{"kind":"large"}`, `"labels":{"kind":"small"}`), false},
		"a flavor of no node": {strings.ReplaceAll(onHardware(8, []int{10, 6}, 10), `"nodeLabels":{"kind":"large"}`, `"nodeLabels":{}`), false},
		"a node in doubt":     {strings.Replace(onHardware(8, []int{10, 6}, 10), `"cpu":"10","pods"`, `"cpu":"many","pods"`, 1), false},
	} {
		_, out, said := call(strings.NewReader(c.input), "why", "a/w0")
		if has := strings.Contains(out, says); has != c.want || strings.Contains(out, "The nodes of") != c.want || !strings.Contains(out, "more nominal quota") {
			t.Errorf("%s: %s%s", name, out, said)
		}
	}
}
