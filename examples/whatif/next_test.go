package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/cli"
)

// A limit on preemptions counts those of the cycles before: the second preemption waits until the
// first has left the window.
func TestNextCountsLimits(t *testing.T) {
	list := []string{
		`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"f"}}`,
		`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"q"},"spec":{"namespaceSelector":{},"preemption":{"withinClusterQueue":"LowerPriority"},
		"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"2"}]}]}]}}`,
		`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"l","namespace":"a"},"spec":{"clusterQueue":"q"}}`,
	}
	for _, name := range []string{"low-1", "low-2"} {
		list = append(list, `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"`+name+`","namespace":"a"},"spec":{"queueName":"l","podSets":[{"name":"main","count":1}]},
		"status":{"admission":{"clusterQueue":"q","podSetAssignments":[{"name":"main","count":1,"flavors":{"cpu":"f"},"resourceUsage":{"cpu":"1"}}]},
		"conditions":[{"type":"QuotaReserved","status":"True","lastTransitionTime":"2026-11-20T09:00:00Z"}]}}`)
	}
	for _, name := range []string{"high-1", "high-2"} {
		list = append(list, `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"`+name+`","namespace":"a"},"spec":{"queueName":"l","priority":5,"podSets":[{"name":"main","count":1,
		"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}}]}}`)
	}
	const limit = `{"apiVersion":"kueue.x-k8s.io/v1alpha1","kind":"PreemptionLimit","metadata":{"name":"few"},"spec":{"scope":"Global","limit":1,"window":"1h"}}`
	for name, c := range map[string]struct {
		objects []string
		want    []string
	}{
		"no limit": {list, []string{"a/high-1 at 12:00", "a/high-2 at 12:00"}},
		"a limit":  {append(slices.Clone(list), limit), []string{"a/high-1 at 12:00", "a/high-2 at 13:00"}},
	} {
		text := `{"kind":"List","items":[` + strings.Join(c.objects, ",") + "]}"
		status, stdout, stderr := call(strings.NewReader(text), "next", "-f", "-", "-at", "2026-11-20T12:00:00Z", "-o", "json", "-cycles", "9")
		var got struct {
			Heads []step `json:"heads"`
		}
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || status != 0 {
			t.Fatalf("%s: %v, status %d, %s", name, err, status, stderr)
		}
		var preempts []string
		for _, s := range got.Heads {
			if len(s.Victims) > 0 {
				preempts = append(preempts, fmt.Sprintf("%s at %s", s.Workload, s.At.Format("15:04")))
			}
		}
		if !slices.Equal(preempts, c.want) {
			t.Errorf("%s: %q, want %q:\n%s", name, preempts, c.want, stdout)
		}
	}
}

// Cycles that look at too many workloads are the last ones, and the forecast says so.
func TestNextEndsAtALimit(t *testing.T) {
	c, err := load(&options{sample: "cluster", cycles: 3}, stdio{clock: noon})
	if err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int]struct {
		cycles int
		cut    bool
	}{0: {3, false}, 1: {1, true}, 1_000_000: {3, false}} {
		f, err := c.forecast(&options{cycles: 3}, most, cli.Screen{})
		if err != nil || f.cycles != want.cycles || f.cut != want.cut || f.ends {
			t.Errorf("at most %d: %d cycles, cut %v, ends %v, %v; want %v", most, f.cycles, f.cut, f.ends, err, want)
		}
	}
}
