package kai_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/examples/internal/read"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

const cluster = `{"kind":"List","items":[
{"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"dept"},"spec":{"preemptMinRuntime":"10m","resources":{"cpu":{"quota":-1,"limit":-1},"memory":{"quota":-1,"limit":-1},"gpu":{"quota":24,"limit":-1}}}},
{"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"a"},"spec":{"parentQueue":"dept","reclaimMinRuntime":"30m",
"resources":{"cpu":{"quota":64000,"limit":-1,"overQuotaWeight":2},"memory":{"quota":-1,"limit":-1},"gpu":{"quota":8,"limit":12}}}},
{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"own"},"value":70},
{"apiVersion":"scheduling.run.ai/v2alpha2","kind":"PodGroup","metadata":{"name":"train","namespace":"n","creationTimestamp":"2026-01-01T00:00:00Z",
"annotations":{"kai.scheduler/last-start-timestamp":"2026-01-01T00:05:00Z"}},"spec":{"queue":"a","priorityClassName":"own","minMember":1},
"status":{"resourcesStatus":{"allocated":{"nvidia.com/gpu":"4","cpu":"8"}}}},
{"apiVersion":"scheduling.run.ai/v2alpha2","kind":"PodGroup","metadata":{"name":"serve","namespace":"n"},"spec":{"queue":"a","priorityClassName":"inference"},
"status":{"resourcesStatus":{"requested":{"nvidia.com/gpu":"16","memory":"1Gi"}}}},
{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"64","memory":"64Gi","nvidia.com/gpu":"8","pods":"110"}}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"s1","namespace":"n","annotations":{"pod-group-name":"serve"}},"spec":{"containers":[{"resources":{"requests":{"cpu":"1","memory":"1G","nvidia.com/gpu":"16"}}}]},"status":{"phase":"Pending"}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p1","namespace":"n","annotations":{"pod-group-name":"train"}},"spec":{"nodeName":"n1","containers":[{"resources":{"requests":{"cpu":"4","nvidia.com/gpu":"2"}}}]},"status":{"phase":"Running"}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p2","namespace":"n","annotations":{"pod-group-name":"train"}},"spec":{"nodeName":"n1","containers":[{"resources":{"requests":{"cpu":"4","nvidia.com/gpu":"2"}}}]},"status":{"phase":"Running"}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p3","namespace":"n","annotations":{"pod-group-name":"train"}},"spec":{"nodeName":"n1","containers":[{"resources":{"requests":{"cpu":"4","nvidia.com/gpu":"2"}}}]},"status":{"phase":"Succeeded"}}
]}`

func TestRead(t *testing.T) {
	c, err := read.OfKAI(strings.NewReader(cluster))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := preemption.NewSnapshot(c.State); err != nil {
		t.Fatal(err)
	}
	if len(c.State.Cohorts) != 2 || c.State.Cohorts[1].Name != "dept" || c.State.Cohorts[1].MinRuntime.Preempt != quota.Some(10*time.Minute) {
		t.Errorf("cohorts %+v", c.State.Cohorts)
	}
	if q := c.State.Queues[0]; q.Cohort != "dept" || q.MinRuntime.Reclaim != quota.Some(30*time.Minute) || q.Quotas[2].BorrowingLimit != quota.AtMost(12000) {
		t.Errorf("queue %+v", q)
	}
	of := c.State.FairShares
	if i := slices.IndexFunc(of.Resources, func(r fairshare.Resource) bool { return r.Name == kai.GPU }); of.Resources[i].Total != 8000 || of.Resources[i].Unit != 1000 {
		t.Errorf("total %+v", of.Resources)
	}
	want := fairshare.Queue{Name: "a", Parent: "dept", Priority: 100, Claims: []fairshare.Claim{
		{Resource: "cpu", Quota: 64000, OverQuotaWeight: 2, Request: 8000 + 1000}, {Resource: "memory", Quota: quota.Unlimited, Request: 1e9},
		{Resource: kai.GPU, Quota: 8000, Limit: quota.Some(int64(12000)), Request: 4000 + 16000},
	}}
	if !reflect.DeepEqual(of.Queues[1], want) {
		t.Errorf("fair shares %+v, want %+v", of.Queues[1], want)
	}
	w := c.State.Admitted[0]
	if w.ID != "n/train" || w.Priority != 70 || !w.ReservedAt.Equal(time.Date(2026, 1, 1, 0, 5, 0, 0, time.UTC)) ||
		w.PodSets[0].Count != 2 || w.PodSets[0].MinCount != workload.AtLeast(1) || w.Usage()[0].Amount != 4000 {
		t.Errorf("running %+v", w)
	}
	p := c.Pending[0]
	if p.Workload.ID != "n/serve" || p.Workload.Priority != 125 || p.Workload.Queue != "a" || len(p.Workload.PodSets[0].Requests) != 3 || !p.Workload.NeverYields || len(p.Pods) != 1 {
		t.Errorf("pending %+v", p)
	}
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"hello": "want a Kubernetes object, found a string",
		"{}":    "no kind",
		`{"items":[{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"d"}}]}`: "item 1 (Deployment d): unknown kind Deployment",
	} {
		if _, err := read.OfKAI(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

// A chain of queues, each with a limit that is too low for it, costs no more than its length;
// a cycle of queues is cut.
func TestLongChain(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, `{"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"q%d"},"spec":{"parentQueue":"q%d","resources":{"gpu":{"quota":8,"limit":1}}}}`, i, max(0, i-1))
	}
	for i := range 2000 {
		fmt.Fprintf(&b, `{"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"leaf%d"},"spec":{"parentQueue":"q2999","resources":{"gpu":{"quota":8}}}}`, i)
	}
	c, err := read.OfKAI(strings.NewReader(b.String()))
	if err != nil || len(c.State.Queues) != 2000 || len(c.State.Cohorts) != 3001 {
		t.Fatal(err, len(c.State.Queues), len(c.State.Cohorts))
	}
	if all := strings.Join(c.Warnings, "\n"); !strings.Contains(all, "Queues q0 are a cycle: their parents are left out") || c.State.Cohorts[1].Parent != kai.AllQueues {
		t.Errorf("%.200s; %+v", all, c.State.Cohorts[1])
	}
	if err := queue.Validate(c.State.Cohorts, c.State.Queues); err != nil {
		t.Error(err)
	}
}

// An odd object costs only itself: a warning names it, and the field.
func TestLeftOut(t *testing.T) {
	for text, want := range map[string]string{
		strings.Replace(cluster, `"10m"`, `"soon"`, 1):                                  `Queue dept: spec.preemptMinRuntime: "soon" is not a duration`,
		strings.Replace(cluster, "2026-01-01T00:05:00Z", "noon", 1):                     `PodGroup n/train: annotation kai.scheduler/last-start-timestamp: "noon" is not a time: whether its runtime protects it is not known`,
		strings.Replace(cluster, `"cpu":"8"`, `"cpu":"1e-1000000000"`, 1):               "PodGroup n/train: status.resourcesStatus.allocated.cpu: quantity",
		strings.Replace(cluster, `"preemptMinRuntime":"10m",`, `"priority":"high",`, 1): `Queue dept: spec.priority: want an integer, found a string`,
		strings.Replace(cluster, `"nvidia.com/gpu":"16"`, `"nvidia.com/gpu":"-4"`, 1):   `PodGroup n/serve: status.resourcesStatus.requested.nvidia.com/gpu: "-4" is less than zero: left out`,
		strings.Replace(cluster, `"parentQueue":"dept"`, `"parentQueue":"x"`, 1):        "Queue a names the parent queue x, which is not in the input: KAI drops a queue without its parent",
		strings.Replace(cluster, `"queue":"a"`, `"queue":"dept"`, 1):                    `PodGroup n/train: it runs in queue "dept", which is no leaf of the input: left out`,
		strings.Replace(cluster, `"minMember":1`, `"preemptibility":"maybe"`, 1):        `PodGroup n/train: spec.preemptibility: "maybe" is unknown: want preemptible or non-preemptible: whether it yields is not known`,
		strings.Replace(cluster, `{"name":"own"}`, `{"name":"x"}`, 1):                   `PodGroup n/train: PriorityClass "own" is not in the input: taken as priority 50`,
	} {
		c, err := read.OfKAI(strings.NewReader(text))
		if all := strings.Join(c.Warnings, "\n"); err != nil || !strings.Contains(all, want) {
			t.Errorf("%q, %v, want %q", all, err, want)
		}
	}
}

// What is in no namespace has its name alone as key: one with a namespace is the same object.
func TestNoNamespace(t *testing.T) {
	const again = `{"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"a","namespace":"n"},"spec":{"resources":{"gpu":{"quota":9}}}}
		{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"own","namespace":"n"},"value":71}`
	c, err := read.OfKAI(strings.NewReader(cluster + again))
	want := []string{"Queue n/a and 1 more: is in the input more than once: the last one counts"}
	if err != nil || !slices.Equal(c.Warnings, want) || len(c.State.Queues) != 2 || c.State.Admitted[0].Priority != 71 {
		t.Errorf("%v, %q, %+v", err, c.Warnings, c.State)
	}
	if _, err := preemption.NewSnapshot(c.State); err != nil {
		t.Error(err)
	}
}

func TestGroups(t *testing.T) {
	text := strings.Replace(cluster, `"minMember":1`, `"minMember":1,"preemptibility":"non-preemptible"`, 1)
	text = strings.Replace(text, `"priorityClassName":"inference"`, `"priorityClassName":"inference","preemptionDelay":"2m"`, 1)
	text = strings.Replace(text, `"name":"serve","namespace":"n"`, `"name":"serve","namespace":"n","creationTimestamp":"2026-01-01T00:00:00Z",
		"annotations":{"kai.scheduler/last-eviction-timestamp":"2026-01-01T01:00:00Z"}`, 1)
	c, err := read.OfKAI(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range c.State.Admitted {
		if w.NeverYields != (w.ID == "n/train") {
			t.Errorf("%s never yields: %v", w.ID, w.NeverYields)
		}
	}
	p := c.Pending[0]
	if !p.PreemptsFrom.Equal(time.Date(2026, 1, 1, 1, 2, 0, 0, time.UTC)) {
		t.Errorf("preempts from %v", p.PreemptsFrom)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(cluster))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := read.OfKAI(strings.NewReader(string(data))); err == nil {
			_, _ = preemption.NewSnapshot(c.State)
		}
	})
}
