package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/whatif/internal/serve"
)

// twoOfOneQueue is a queue of four CPUs, a job that has all of them, and one of higher priority that waits; the queue preempts by a policy.
func twoOfOneQueue(policy string) string {
	const workload = `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":%q,"namespace":"team-forecast","uid":%q,"creationTimestamp":"2026-11-20T08:00:00Z"},` +
		`"spec":{"queueName":"lq","priority":%d,"podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"4"}}}]}}}]},"status":{%s}}` + "\n"
	return fmt.Sprintf(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq"},"spec":{"namespaceSelector":{},"preemption":{"withinClusterQueue":%q},`+
		`"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":4}]}]}]}}`, policy) + "\n" +
		`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"lq","namespace":"team-forecast"},"spec":{"clusterQueue":"cq"}}` + "\n" +
		`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"f"},"spec":{}}` + "\n" +
		fmt.Sprintf(workload, "job-nightly-feature-backfill-8b5c9", "u1", 0, `"admission":{"clusterQueue":"cq","podSetAssignments":[{"name":"main","count":1,"flavors":{"cpu":"f"},"resourceUsage":{"cpu":"4"}}]},"conditions":[{"type":"QuotaReserved","status":"True","reason":"QuotaReserved","message":"","lastTransitionTime":"2026-11-20T08:30:00Z"}]`) +
		fmt.Sprintf(workload, "job-urgent-retrain-5b720", "u2", 100, `"conditions":[]`)
}

const (
	nightly = "team-forecast/job-nightly-feature-backfill-8b5c9"
	urgent  = "team-forecast/job-urgent-retrain-5b720"
)

// diff names who would be told to leave after a change, and is not today.
func TestDiffNamesEvictions(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     []string
	}{{"Never", "LowerPriority", []string{nightly}}, {"LowerPriority", "Never", []string{}}} {
		_, out, said := call(strings.NewReader(twoOfOneQueue(c.from)), "diff", "-f", "-", "-policy", "cq:withinClusterQueue="+c.to, "-o", "json")
		var d serve.Diff
		if err := json.Unmarshal([]byte(out), &d); err != nil || len(d.Change) != 1 || !slices.Equal(d.Evicted, c.want) {
			t.Errorf("from %s to %s: %v, want %v: %s", c.from, c.to, d.Evicted, c.want, said)
		}
	}
	if _, out, _ := call(strings.NewReader(twoOfOneQueue("Never")), "diff", "-f", "-", "-policy", "cq:withinClusterQueue=LowerPriority"); !strings.Contains(out, "1 that runs would then be told to leave, and is not today: "+nightly) {
		t.Errorf("%s", out)
	}
}

// safe names those that wait and would take the place now.
func TestSafeNamesWhoWaits(t *testing.T) {
	if _, out, _ := call(strings.NewReader(twoOfOneQueue("LowerPriority")), "safe", "-f", "-", nightly); !strings.Contains(out, "Of those that wait, "+urgent+" would take its place now.") {
		t.Errorf("%s", out)
	}
	if _, out, _ := call(strings.NewReader(twoOfOneQueue("LowerPriority")), "safe", "-f", "-", "-new", nightly); strings.Contains(out, urgent) {
		t.Errorf("-new is about what waits not yet: %s", out)
	}
}

// A quantity with a plus is so much more than before.
func TestMoreQuota(t *testing.T) {
	ask := func(args ...string) string {
		status, out, said := call(nil, append([]string{"diff", "-o", "json"}, args...)...)
		return fmt.Sprint(status, out, said)
	}
	for more, whole := range map[string]string{
		"vision:h100:nvidia.com/gpu=+8": "vision:h100:nvidia.com/gpu=40", "search:h100:nvidia.com/gpu=+0": "search:h100:nvidia.com/gpu=24",
	} {
		if a, b := ask("-quota", more), ask("-quota", whole); a != b {
			t.Errorf("%s is not %s:\n%s%s", more, whole, a, b)
		}
	}
	if a, b := ask("-sample", "kai", "-quota", "vision:gpu=+2"), ask("-sample", "kai", "-quota", "vision:gpu=6"); a != b {
		t.Errorf("of KAI:\n%s%s", a, b)
	}
	for _, bad := range []string{"vision:h100:nvidia.com/gpu=++8", "vision:h100:nvidia.com/gpu=+none", "vision:h100:nvidia.com/gpu=+", "vision:h100:nvidia.com/gpu:borrowingLimit=+8"} {
		if got := ask("-quota", bad); !strings.HasPrefix(got, "2") || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: %s", bad, got)
		}
	}
}

// A name may lack its beginning, as people type it, or its middle, as tables print it; it has to mean one.
func TestEndings(t *testing.T) {
	all := []string{nightly, urgent, "team-vision/job-urgent-retrain-5b720"}
	for name, want := range map[string][]string{
		"8b5c9": {nightly}, "backfill-8b5c9": {nightly}, "…/job-nightly…8b5c9": {nightly}, "team-f…t/job-u…5b720": {urgent}, "job-urgent-retrain-5b720": {urgent, all[2]},
		"5c9": nil, "b5c9": nil, "x…8b5c9": nil, "forecast/job-urgent-retrain-5b720": nil, "": nil, "…": nil,
	} {
		if got := ending(all, name); !slices.Equal(got, want) {
			t.Errorf("%q means %v, want %v", name, got, want)
		}
	}
	if status, out, said := call(strings.NewReader(twoOfOneQueue("LowerPriority")), "why", "-f", "-", "5b720"); status != 0 || !strings.Contains(out, urgent) {
		t.Errorf("status %d: %s%s", status, out, said)
	}
}
