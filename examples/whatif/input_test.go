package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/mutate"
)

// Each embedded sample can be asked; that of troubles is one in which lint finds some, that of rules one in which rules decide.
func TestSamples(t *testing.T) {
	for _, name := range answers.Samples {
		if status, stdout, stderr := call(nil, "overview", "-sample", name); status > 1 || stderr != "" || !strings.Contains(stdout, "This is an embedded sample.") {
			t.Errorf("%s: status %d, %q:\n%s", name, status, stderr, stdout)
		}
	}
	for want, args := range map[string][]string{
		"lending: a lending limit is more than there is to lend": {"lint", "-sample", "trouble"},
		"fits once ":         {"ask", "-sample", "rules", "-workload", "prod/hero"},
		"prod/hero":          {"diff", "-sample", "rules", "-rule", "hero:others-yield=off"},
		`want cluster, trou`: {"ask", "-sample", "large"},
		"without -f":         {"ask", "-sample", "rules", "-f", "x"},
	} {
		status, stdout, stderr := call(nil, args...)
		if !strings.Contains(stdout+stderr, want) || (status == 2) != strings.HasPrefix(want, "w") {
			t.Errorf("%q: status %d, %q, %s", args, status, stderr, stdout)
		}
	}
}

// Spoilt input is answered, or refused in one line.
func TestSpoiltInput(t *testing.T) {
	ask := func(args ...string) func([]byte) (int, string, string) {
		return func(input []byte) (int, string, string) { return call(bytes.NewReader(input), args...) }
	}
	mutate.Check(t, theSample(), 1000, ask("-workload", answers.SampleWorkload))
	ofKAI := must(answers.SampleText("kai"))(t)
	mutate.Check(t, ofKAI, 300, ask("-workload", answers.SampleAsks["kai"]))
	mutate.Check(t, ofKAI, 100, ask("overview"))
	mutate.Check(t, ofKAI, 100, ask("settle"))
	mutate.Check(t, ofKAI, 100, ask("lint"))
	mutate.Check(t, ofKAI, 100, ask("next"))
	mutate.Check(t, ofKAI, 100, ask("explain", "-workload", answers.SampleAsks["kai"]))
	mutate.Check(t, []byte(smallCluster), 300, ask("-workload", "a/next", "-o", "json"))
	mutate.Check(t, []byte(smallCluster), 300, ask("-request", "cpu=1", "-queue", "vision"))
	mutate.Check(t, []byte(kaiCluster), 300, ask())
	withRules := must(os.ReadFile(rulesFile))(t)
	mutate.Check(t, withRules, 1000, ask("-workload", "prod/hero", "-o", "json"))
	mutate.Check(t, []byte(`{"queues":[{"name":"vision","quotas":[{"flavor":"f","resource":"cpu","nominal":1}]}]}`), 300, ask("-request", "cpu=1", "-queue", "vision"))
}

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

// A closed preemption gate: the victims are named, but the answer is no.
func TestGated(t *testing.T) {
	var list struct {
		Kind  string           `json:"kind"`
		Items []map[string]any `json:"items"`
	}
	if err := json.Unmarshal(theSample(), &list); err != nil {
		t.Fatal(err)
	}
	for _, item := range list.Items {
		if item["kind"] == "Workload" && item["metadata"].(map[string]any)["name"] == "detector-train" {
			item["spec"].(map[string]any)["preemptionGates"] = []any{map[string]any{"name": "g"}}
		}
	}
	gated := must(json.Marshal(list))(t)
	_, plain, _ := call(bytes.NewReader(theSample()), "-workload", "vision/detector-train")
	status, stdout, stderr := call(bytes.NewReader(gated), "-workload", "vision/detector-train")
	_, victims, found := strings.Cut(plain, "\n\nVICTIM")
	if !found || status != 1 || stderr != "" || !strings.Contains(stdout, "but a closed gate holds it back.") || !strings.HasSuffix(stdout, victims) {
		t.Errorf("status %d, %q:\n%s\nwithout gate:\n%s", status, stderr, stdout, plain)
	}
}

// kaiCluster is two queues below another: what runs in b is over its quota, a asks.
const kaiCluster = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"x","annotations":{"note":"kueue.x-k8s.io/v1beta2"}}}
{"kind":"List","items":[
{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-1"},"status":{"allocatable":{"nvidia.com/gpu":"12","pods":"110"}}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"train-0","namespace":"b","annotations":{"pod-group-name":"train"}},"spec":{"nodeName":"node-1","containers":[{"resources":{"requests":{"nvidia.com/gpu":"12"}}}]},"status":{"phase":"Running"}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"serve-0","namespace":"a","annotations":{"pod-group-name":"serve"}},"spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":"8"}}}]},"status":{"phase":"Pending"}},
{"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"dept"},"spec":{"resources":{"gpu":{"quota":12,"limit":-1}}}},
{"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"a"},"spec":{"parentQueue":"dept","resources":{"gpu":{"quota":8,"limit":-1}}}},
{"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"b"},"spec":{"parentQueue":"dept","resources":{"gpu":{"quota":4,"limit":-1}}}}]}
{"apiVersion":"scheduling.run.ai/v2alpha2","kind":"PodGroup","metadata":{"name":"train","namespace":"b","annotations":{"kai.scheduler/last-start-timestamp":"2026-11-20T10:00:00Z"}},"spec":{"queue":"b","priorityClassName":"train"}}
{"apiVersion":"scheduling.run.ai/v2alpha2","kind":"PodGroup","metadata":{"name":"serve","namespace":"a","creationTimestamp":"2026-11-20T12:00:00Z"},
"spec":{"queue":"a","priorityClassName":"train","preemptionDelay":"2m"}}`

func TestKAI(t *testing.T) {
	fixed := strings.Replace(strings.Replace(kaiCluster, `"queue":"a",`, `"queue":"a","preemptibility":"non-preemptible",`, 1), `{"nvidia.com/gpu":"8"}`, `{"nvidia.com/gpu":"9"}`, 1)
	two := strings.Replace(strings.Replace(kaiCluster, `"queue":"b",`, `"queue":"b","minMember":1,`, 1), `"name":"serve-0"`, `"name":"train-1"`, 1)
	two = strings.Replace(two, `"namespace":"a","annotations":{"pod-group-name":"serve"}`, `"namespace":"b","annotations":{"pod-group-name":"train"}`, 1)
	both := kaiCluster + smallCluster
	for name, c := range map[string]struct {
		text   string
		args   []string
		status int
		want   string
	}{
		"preempts":                {kaiCluster, []string{"-at", "2026-11-20T12:02:00Z"}, 0, "a/serve fits once b/train yields."},
		"its quota":               {kaiCluster, []string{"-at", "2026-11-20T12:02:00Z", "-all"}, 0, "reclaimed: its queue holds more than its fair share"},
		"described":               {kaiCluster, []string{"-at", "2026-11-20T13:00:00Z", "-request", "nvidia.com/gpu=4", "-count", "2", "-queue", "a"}, 0, "new fits once b/train yields."},
		"described, too much":     {kaiCluster, []string{"-at", "2026-11-20T13:00:00Z", "-request", "nvidia.com/gpu=9", "-queue", "a"}, 1, "over its fair share: queue a would have 9 GPU of 8"},
		"in another queue":        {kaiCluster, []string{"-workload", "a/serve", "-queue", "b"}, 2, "-queue: a group of KAI counts in its own queue"},
		"more than there are":     {kaiCluster, []string{"-request", "nvidia.com/gpu=1", "-count", "100001", "-queue", "a"}, 2, "-count 100001 replicas: want at most 100000"},
		"what no queue has":       {kaiCluster, []string{"-request", "rdma/ib=1", "-queue", "a"}, 1, "does not fit"},
		"more pods of what runs":  {two, []string{"-at", "2026-11-20T13:00:00Z", "-workload", "b/train"}, 1, "b/train:more does not fit"},
		"by fair sharing":         {kaiCluster, []string{"-fair"}, 2, "-fair: KAI decides by fair shares"},
		"a quota with a flavor":   {kaiCluster, []string{"diff", "-quota", "a:f:gpu:x=9"}, 2, "of KAI want QUEUE:RESOURCE=QUANTITY"},
		"a fixed priority":        {kaiCluster, []string{"diff", "-priority", "a/serve=100"}, 2, "a priority of 100 or more may not yield"},
		"another priority":        {kaiCluster, []string{"diff", "-priority", "a/serve=99", "-at", "2026-11-20T13:00:00Z"}, 0, "No answer changes"},
		"another policy":          {kaiCluster, []string{"diff", "-policy", "a:reclaimWithinCohort=Any"}, 2, "-policy is for queues of Kueue"},
		"within its delay":        {kaiCluster, []string{"-at", "2026-11-20T12:01:59Z"}, 1, "may preempt from 2026-11-20T12:02:00Z on, not yet (preemptionDelay)"},
		"not preemptible":         {fixed, []string{"-at", "2026-11-20T13:00:00Z"}, 1, "not preemptible, and with it 1 GPU more than the quota of queue a"},
		"beside Kueue":            {both, nil, 2, "say with -scheduler kueue or -scheduler kai which is asked"},
		"beside Kueue, KAI asked": {both, []string{"-scheduler", "kai", "-at", "2026-11-20T13:00:00Z"}, 0, "b/train"},
		"beside KAI, Kueue asked": {both, []string{"-scheduler", "kueue", "-at", "2026-11-20T13:00:00Z"}, 0, "a/next"},
		"none of Kueue":           {kaiCluster, []string{"-scheduler", "kueue"}, 2, "there are no objects of it in the input"},
	} {
		if len(c.args) == 0 || c.args[0] != "diff" {
			c.args = append([]string{"ask"}, c.args...)
		}
		status, stdout, stderr := call(strings.NewReader(c.text), c.args...)
		if status != c.status || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("%s: status %d, want %d and %q:\n%s%s", name, status, c.status, c.want, stdout, stderr)
		}
	}
}
