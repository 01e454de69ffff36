package main

import (
	"strings"
	"testing"
)

// kaiCluster is two queues below another: what runs in b is over its quota, a asks.
const kaiCluster = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"x","annotations":{"note":"kueue.x-k8s.io/v1beta2"}}}
{"kind":"List","items":[
{"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"dept"},"spec":{"resources":{"gpu":{"quota":12,"limit":-1}}}},
{"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"a"},"spec":{"parentQueue":"dept","resources":{"gpu":{"quota":8,"limit":-1}}}},
{"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"b"},"spec":{"parentQueue":"dept","resources":{"gpu":{"quota":4,"limit":-1}}}}]}
{"apiVersion":"scheduling.run.ai/v2alpha2","kind":"PodGroup","metadata":{"name":"train","namespace":"b","annotations":{"kai.scheduler/last-start-timestamp":"2026-11-20T10:00:00Z"}},"spec":{"queue":"b","priorityClassName":"train"},
"status":{"resourcesStatus":{"allocated":{"nvidia.com/gpu":"12"}}}}
{"apiVersion":"scheduling.run.ai/v2alpha2","kind":"PodGroup","metadata":{"name":"serve","namespace":"a","creationTimestamp":"2026-11-20T12:00:00Z"},
"spec":{"queue":"a","priorityClassName":"train","preemptionDelay":"2m"},"status":{"resourcesStatus":{"requested":{"nvidia.com/gpu":"8"}}}}`

func TestKAI(t *testing.T) {
	fixed := strings.Replace(strings.Replace(kaiCluster, `"queue":"a",`, `"queue":"a","preemptibility":"non-preemptible",`, 1), `{"nvidia.com/gpu":"8"}`, `{"nvidia.com/gpu":"9"}`, 1)
	both := kaiCluster + smallCluster
	for name, c := range map[string]struct {
		text   string
		args   []string
		status int
		want   string
	}{
		"preempts":                {kaiCluster, []string{"-at", "2026-11-20T12:02:00Z"}, 3, "As far as is known, it fits once b/train yields."},
		"within its delay":        {kaiCluster, []string{"-at", "2026-11-20T12:01:59Z"}, 3, "may preempt from 2026-11-20T12:02:00Z on, not yet (preemptionDelay)"},
		"not preemptible":         {fixed, []string{"-at", "2026-11-20T13:00:00Z"}, 1, "a/serve does not fit: KAI gives what is not preemptible nothing above the quota"},
		"beside Kueue":            {both, nil, 2, "say with -scheduler kueue or -scheduler kai which is asked"},
		"beside Kueue, KAI asked": {both, []string{"-scheduler", "kai", "-at", "2026-11-20T13:00:00Z"}, 3, "b/train"},
		"beside KAI, Kueue asked": {both, []string{"-scheduler", "kueue", "-at", "2026-11-20T13:00:00Z"}, 0, "a/next"},
		"none of Kueue":           {kaiCluster, []string{"-scheduler", "kueue"}, 2, "there are no objects of it in the input"},
	} {
		status, stdout, stderr := call(strings.NewReader(c.text), c.args...)
		if status != c.status || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("%s: status %d, want %d and %q:\n%s%s", name, status, c.status, c.want, stdout, stderr)
		}
	}
}
