package kai

import (
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

const cluster = `{"kind":"List","items":[
{"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"dept"},"spec":{"preemptMinRuntime":"10m","resources":{"gpu":{"quota":24}}}},
{"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"a"},"spec":{"parentQueue":"dept","reclaimMinRuntime":"30m",
"resources":{"cpu":{"quota":64000,"limit":-1},"memory":{"quota":-1},"gpu":{"quota":8,"limit":12}}}},
{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"own"},"value":70},
{"apiVersion":"scheduling.run.ai/v2alpha2","kind":"PodGroup","metadata":{"name":"train","namespace":"n","creationTimestamp":"2026-01-01T00:00:00Z",
"annotations":{"kai.scheduler/last-start-timestamp":"2026-01-01T00:05:00Z"}},"spec":{"queue":"a","priorityClassName":"own","minMember":1},
"status":{"resourcesStatus":{"allocated":{"nvidia.com/gpu":"4","cpu":"8"}}}},
{"apiVersion":"scheduling.run.ai/v2alpha2","kind":"PodGroup","metadata":{"name":"serve","namespace":"n"},"spec":{"queue":"a","priorityClassName":"inference"},
"status":{"resourcesStatus":{"requested":{"nvidia.com/gpu":"16","memory":"1Gi"}}}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p1","namespace":"n","annotations":{"pod-group-name":"train"}},"status":{"phase":"Running"}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p2","namespace":"n","annotations":{"pod-group-name":"train"}},"status":{"phase":"Running"}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p3","namespace":"n","annotations":{"pod-group-name":"train"},"deletionTimestamp":"2026-01-01T01:00:00Z"},"status":{"phase":"Running"}}
]}`

func TestRead(t *testing.T) {
	c, err := Read(strings.NewReader(cluster))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := preemption.NewSnapshot(preemption.State{Cohorts: c.Cohorts, Queues: c.Queues, Admitted: c.Admitted}); err != nil {
		t.Fatal(err)
	}
	if len(c.Cohorts) != 1 || c.Cohorts[0].MinRuntime.Preempt != minruntime.For(10*time.Minute) || len(c.Cohorts[0].Quotas) != 0 {
		t.Errorf("cohorts %+v", c.Cohorts)
	}
	q := c.Queues[0]
	if q.Cohort != "dept" || q.MinRuntime.Reclaim != minruntime.For(30*time.Minute) || q.Quotas[0].Nominal != 64000 ||
		q.Quotas[1].Nominal != quota.Unlimited || q.Quotas[2].Nominal != 8 || q.Quotas[2].BorrowingLimit != quota.AtMost(4) {
		t.Errorf("queue %+v", q)
	}
	w := c.Admitted[0]
	if w.ID != "n/train" || w.Priority != 70 || !w.ReservedAt.Equal(time.Date(2026, 1, 1, 0, 5, 0, 0, time.UTC)) ||
		w.PodSets[0].Count != 2 || w.PodSets[0].MinCount != workload.AtLeast(1) || w.Usage()[1].Amount != 4 {
		t.Errorf("running %+v", w)
	}
	p := c.Pending[0]
	if p.ID != "n/serve" || p.Priority != 125 || p.Queue != "a" || len(p.PodSets[0].Requests) != 2 {
		t.Errorf("pending %+v", p)
	}
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"hello": "want a Kubernetes object, found a string",
		"{}":    "no kind",
		`{"items":[{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"d"}}]}`: "item 1 (Deployment d): unknown kind Deployment",
		strings.Replace(cluster, `"parentQueue":"dept"`, `"parentQueue":"x"`, 1):           `its parent "x" is not in the input`,
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

// An odd object costs only itself: a warning names it, and the field.
func TestLeftOut(t *testing.T) {
	for text, want := range map[string]string{
		strings.Replace(cluster, `"10m"`, `"soon"`, 1):                    `Queue dept: spec.preemptMinRuntime: "soon" is not a duration`,
		strings.Replace(cluster, "2026-01-01T00:05:00Z", "noon", 1):       `PodGroup n/train: annotation kai.scheduler/last-start-timestamp: "noon" is not a time: left out`,
		strings.Replace(cluster, `"cpu":"8"`, `"cpu":"1e-1000000000"`, 1): "PodGroup n/train: status.resourcesStatus.allocated[cpu]: quantity",
		strings.Replace(cluster, `"name":"own"`, `"name":"a"`, 1):         "",
	} {
		text = strings.Replace(text, `"parentQueue":"dept",`, "", 1)
		c, err := Read(strings.NewReader(text))
		if all := strings.Join(c.Warnings, "\n"); err != nil || !strings.Contains(all, want) {
			t.Errorf("%q, %v, want %q", all, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(cluster))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := Read(strings.NewReader(string(data))); err == nil {
			_, _ = preemption.NewSnapshot(preemption.State{Cohorts: c.Cohorts, Queues: c.Queues, Admitted: c.Admitted})
		}
	})
}
