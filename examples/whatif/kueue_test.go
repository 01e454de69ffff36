package main

import (
	"os"
	"strings"
	"testing"
)

// Clusters of Kueue, and what is said of each.
func TestKueue(t *testing.T) {
	const config = "\n---\napiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\nfairSharing: {enable: false}\n"
	for _, c := range []struct {
		file, more string
		args       []string
		status     int
		want, not  string
	}{
		{"flavors", "", []string{"-workload", "n/wants-a100"}, 0, "h100          nvidia.com/gpu  its taint h100=true:NoSchedule is not tolerated\na100                          taken", ""},
		{"flavors", "", []string{"explain", "-o", "wide", "-workload", "n/wants-a100"}, 0, "h100: its taint h100=true:NoSchedule is not tolerated\n", ""},
		{"flavors", "", []string{"-workload", "n/wants-v100"}, 1, "Flavor h100: its taint h100=true:NoSchedule is not tolerated.\nFlavor a100: the pods want nodes with gpu=v100; its nodes have gpu=a100.\n", ""},
		{"flavors", "", []string{"-workload", "n/wants-v100", "-flavor", "h100"}, 0, "8 nvidia.com/gpu of h100", "tolerated"},
		{"flavors", "", []string{"-workload", "n/no-toleration", "-o", "json"}, 0, `"mismatch": {`, ""},
		{"weights", "", []string{"-workload", "d/want3"}, 3, `whether fair sharing is on: the weight of ClusterQueue "b" means nothing without it`, ""},
		{"weights", "", []string{"-workload", "d/want3", "-fair=false"}, 1, "borrowWithinCohort is Never", "fair sharing"},
		{"weights", "", []string{"-workload", "d/want3", "-fair"}, 0, "InCohortFairSharing: its side of the cohort", "Note: decided"},
		{"weights", config, []string{"-workload", "d/want3"}, 1, "borrowWithinCohort is Never", "fair sharing"},
		{"stops", "", []string{"-workload", "n/inactive-cq"}, 3, "it is inactive by its status, and nothing in the input shows why: FlavorNotFound", ""},
		{"stops", "", []string{"-workload", "n/inactive-cq", "-assume", "status.conditions[Active]"}, 0, "assumed to make no difference: ClusterQueue q: status.conditions[Active]", ""},
		{"stops", "", []string{"-workload", "n/held"}, 1, "ClusterQueue held is stopped (stopPolicy Hold)", ""},
		{"stops", "", []string{"-workload", "n/checks"}, 0, "admission checks are ready: prov", ""},
		{"stops", "", []string{"-workload", "n/sel"}, 3, "unknown: ClusterQueue sel admits workloads of namespaces with team=x only", ""},
		{"stops", "", []string{"-workload", "n/stoppedlq"}, 1, "LocalQueue n/stopped is stopped (stopPolicy HoldAndDrain)", ""},
		{"stops", "", []string{"-workload", "n/stoppedlq", "-queue", "n/checks"}, 0, "admission checks", "n/stopped is stopped"},
		{"stops", "", []string{"-request", "cpu=1", "-queue", "n/stopped"}, 1, "LocalQueue n/stopped is stopped (stopPolicy HoldAndDrain)", ""},
		{"stops", "", []string{"-workload", "n/sel"}, 3, "Kueue's own scheduler decides it, in a checkout: cd examples/kueue && GOWORK=off go run ./ask -f FILE -workload n/sel.", ""},
		{"stops", "", []string{"-workload", "n/checks"}, 0, "admission checks are ready", "Kueue's own scheduler"},
		{"stops", "", []string{"-request", "cpu=1", "-queue", "n/sel"}, 3, "whether n is one is not known", "Kueue's own scheduler"},
		{"stops", "", []string{"-request", "cpu=1", "-queue", "sel"}, 0, "namespaces with team=x only", "whether"},
		{"stops", "", []string{"-workload", "n/deleting", "-o", "json"}, 1, "the workload is being deleted, since 2026-11-20T11:00:00Z, and nobody owns it", ""},
		{"gates", "", []string{"-workload", "n/gated"}, 1, "a closed gate holds it back", ""},
		{"gates", "", []string{"-workload", "n/never", "-assume", "metadata.annotations[kueue.x-k8s.io/cannot-preempt]"}, 1, "the workload never preempts", ""},
	} {
		data := must(os.ReadFile("testdata/input/" + c.file + ".json"))(t)
		args := append([]string{"-at", "2026-11-20T12:00:00Z"}, c.args...)
		if c.more != "" {
			file := t.TempDir() + "/config.yaml"
			if err := os.WriteFile(file, []byte(c.more), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, "-f", "-", "-f", file)
		}
		status, stdout, stderr := call(strings.NewReader(string(data)), args...)
		if status != c.status || stderr != "" || !strings.Contains(stdout, c.want) || c.not != "" && strings.Contains(stdout, c.not) {
			t.Errorf("%s %q: status %d, %q; want %d, %q, not %q:\n%s", c.file, c.args, status, stderr, c.status, c.want, c.not, stdout)
		}
	}
	// What cannot be read is named when it is asked about.
	odd := `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"odd","namespace":"n"},"spec":{"podSets":[{"name":"x"},{"name":"x"}]}}`
	data := must(os.ReadFile("testdata/input/gates.json"))(t)
	status, stdout, stderr := call(strings.NewReader(string(data)+odd), "-workload", "n/odd")
	if status != 3 || stderr != "" || !strings.HasPrefix(stdout, "Whether n/odd fits is unknown: Workload n/odd cannot be read: ") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	if status, stdout, stderr := call(strings.NewReader(string(data)+odd), "-workload", "n/side"); status != 0 && status != 1 || !strings.Contains(stdout, "Note: Workload n/odd: ") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}

// A slice of an elastic job is asked about without the one that it replaces, in cycles too.
func TestElasticSlice(t *testing.T) {
	cluster := `{"kind":"List","apiVersion":"v1","items":[
		{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"f"},"spec":{}},
		{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"q"},"spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"8"}]}]}]}},
		{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"lq","namespace":"ns"},"spec":{"clusterQueue":"q"}},
		{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"old","namespace":"ns","creationTimestamp":"2026-11-20T08:00:00Z"},"spec":{"queueName":"lq","podSets":[{"name":"main","count":6}]},
			"status":{"conditions":[{"type":"QuotaReserved","status":"True","lastTransitionTime":"2026-11-20T08:00:00Z"}],
				"admission":{"clusterQueue":"q","podSetAssignments":[{"name":"main","count":6,"flavors":{"cpu":"f"},"resourceUsage":{"cpu":"6"}}]}}},
		{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"new","namespace":"ns","creationTimestamp":"2026-11-20T09:00:00Z","annotations":{"kueue.x-k8s.io/workload-slice-replacement-for":"ns/old"}},
			"spec":{"queueName":"lq","podSets":[{"name":"main","count":8,"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}}]}}]}`
	for verb, c := range map[string]struct {
		status int
		want   string
	}{
		"ask":      {0, "ns/new fits now."},
		"overview": {0, "fits now"},
		"explain":  {0, "ns/new fits now."},
		"next":     {0, "ns/new    q      admitted"},
	} {
		status, stdout, stderr := call(strings.NewReader(cluster), verb, "-at", now, "-o", "wide")
		if status != c.status || stderr != "" || !strings.Contains(stdout, c.want) {
			t.Errorf("%s: status %d, %s%s", verb, status, stdout, stderr)
		}
	}
	// With another one in the queue that may yield, and as the older one may: that one does.
	low := `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"low","namespace":"ns","creationTimestamp":"2026-11-20T08:30:00Z"},"spec":{"queueName":"lq","priority":-1,"podSets":[{"name":"main","count":2}]},
			"status":{"conditions":[{"type":"QuotaReserved","status":"True","lastTransitionTime":"2026-11-20T08:30:00Z"}],
				"admission":{"clusterQueue":"q","podSetAssignments":[{"name":"main","count":2,"flavors":{"cpu":"f"},"resourceUsage":{"cpu":"2"}}]}}}`
	cluster = strings.NewReplacer(`"spec":{"queueName":"lq","podSets":[{"name":"main","count":6}]}`, `"spec":{"queueName":"lq","priority":-2,"podSets":[{"name":"main","count":6}]}`,
		`"namespaceSelector":{}`, `"namespaceSelector":{},"preemption":{"withinClusterQueue":"LowerPriority"}`, "]}}}]}}]}", "]}}}]}},"+low+"]}").Replace(cluster)
	for verb, want := range map[string]string{
		"ask": "low ", "explain": "It fits once ns/low yields.", "overview": "preempts ns/low", "next": "1      ns/new    q      preempts ns/low\n2      ns/new    q      admitted\n",
	} {
		status, stdout, stderr := call(strings.NewReader(cluster), verb, "-at", now, "-o", "wide")
		if status != 0 || stderr != "" || !strings.Contains(stdout, want) || strings.Contains(stdout, "ns/old yields") || strings.Contains(stdout, "preempts ns/old") {
			t.Errorf("%s: status %d, %s%s", verb, status, stdout, stderr)
		}
	}
}
