package world

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/quota"
)

// manifest is a cluster of Kueue: two queues, one of them with two flavors, a cohort with quota of its own.
const manifest = `apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: org}
spec: {resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 2}]}]}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: nlp}
spec:
  cohortName: org
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any}
  fairSharing: {weight: "2"}
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - {name: h100, resources: [{name: cpu, nominalQuota: 8}, {name: memory, nominalQuota: 1Gi}, {name: nvidia.com/gpu, nominalQuota: 4, borrowingLimit: 1}]}
    - {name: a100, resources: [{name: cpu, nominalQuota: 4}, {name: memory, nominalQuota: 1Gi}, {name: nvidia.com/gpu, nominalQuota: 3}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vision}
spec: {cohortName: org, namespaceSelector: {}, resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 1}]}]}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq, namespace: team}
spec: {clusterQueue: vision}
`

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Queues, cohorts, weights, policies and quotas are those of the manifest. A job has the flavor that it ran in where its queue has it,
// else it is assigned one; its queue may be named by a LocalQueue; a job of another queue is left out.
func TestCluster(t *testing.T) {
	jobs := writeFile(t, "jobs.csv", "job,queue,submit,gpus,cpus,duration,flavor,priority\n"+
		"a,nlp,0,2,3,60,a100,1\nb,nlp,1,1,1,60,,1\nc,nlp,2,1,1,60,v100,1\nd,team/lq,3,1,1,60,h100,1\ne,lq,4,1,0,60,,1\nf,nowhere,5,1,1,60,,1\ng,vision,6,0,1,60,,1\n")
	trace, err := Read(jobs, "", writeFile(t, "cluster.yaml", manifest), "")
	if err != nil {
		t.Fatal(err)
	}
	_, settings, _ := ParseName("x")
	if err := trace.Check(&settings); err != nil {
		t.Error(err)
	}
	w := New(trace, settings)
	if w.GPU != 10_000 || w.CPU != 12_000 || w.Unit != "GPU" || len(w.Queues) != 2 || len(w.Cohorts) != 1 {
		t.Errorf("%d GPUs, %d CPUs: %+v", w.GPU, w.CPU, w.Queues)
	}
	q := w.Queues[0]
	if limit, ok := q.Quotas[1].BorrowingLimit.Get(); q.Name != "nlp" || q.FairWeight.Or(1) != 2 || q.Preemption.ReclaimWithinCohort.String() != "Any" || !ok || limit != 1000 || len(q.Quotas) != 4 || q.Inactive {
		t.Errorf("%+v", q)
	}
	var got []string
	for i := range w.Jobs {
		text := w.Jobs[i].ID + " " + w.Jobs[i].Queue
		for _, r := range w.Requests(&w.Jobs[i]) {
			text += fmt.Sprintf(" %s/%s=%d", r.Flavor, r.Resource, r.Amount)
		}
		got = append(got, text)
	}
	want := []string{"a nlp a100/gpu=2000 a100/cpu=3000", "b nlp /gpu=1000 /cpu=1000", "c nlp /gpu=1000 /cpu=1000", "d vision h100/gpu=1000", "e vision /gpu=1000"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for _, note := range []string{"2 ClusterQueues and 1 Cohorts", "not for memory", "CPUs of 2 jobs do not count", `1 jobs of queue "nowhere"`, `ran in flavor "v100"`} {
		if text := strings.Join(w.Notes, "\n"); !strings.Contains(text, note) {
			t.Errorf("%q is not in %s", note, text)
		}
	}
	for _, key := range []string{"capacity=70", "gpus=8", "gpus.h100=8", "within=Never"} {
		_, settings, err := ParseName("x+" + key)
		if err != nil || trace.Check(&settings) == nil {
			t.Errorf("%s: %v, and it goes with a cluster", key, err)
		}
	}
	if _, err := Read(writeFile(t, "other.csv", "job,queue,submit,gpus,duration\na,x,0,1,60\n"), "", writeFile(t, "c.yaml", manifest), ""); err == nil || !strings.Contains(err.Error(), "want one of nlp, vision; the jobs are of x") {
		t.Error(err)
	}
}

// Capacities are percentages of the peak of each flavor, or numbers, of all or of single flavors. A percentage that is not given is enough
// for the largest job.
func TestCapacities(t *testing.T) {
	const text = "job,queue,submit,gpus,cpus,duration,flavor\na,p,0,6,1,60,a100\nb,p,1,2,1,60,v100\nc,q,2,4,3,60,\nd,q,100,6,1,60,a100\n"
	for setting, want := range map[string]string{
		"capacity=50":           "other=2000/0 a100=3000/0 v100=1000/0",
		"gpus=6":                "other=2000/0 a100=3000/0 v100=1000/0", // by peaks of 4, 6 and 2
		"gpus.a100=9":           "other=4000/0 a100=9000/0 v100=2000/0",
		"capacity=50+cpus=10":   "other=2000/6000 a100=3000/2000 v100=1000/2000",
		"gpus=12+gpus.v100=100": "other=4000/0 a100=6000/0 v100=100000/0",
	} {
		trace, err := Read(writeFile(t, "jobs.csv", text), "", "", "")
		if err != nil {
			t.Fatal(err)
		}
		_, settings, err := ParseName("x+" + setting)
		if err == nil && !strings.Contains(setting, "capacity") {
			settings.Capacity = 50
		}
		if err == nil {
			err = trace.Check(&settings)
		}
		if err != nil {
			t.Fatal(err)
		}
		w := New(trace, settings)
		sums := map[string]int64{}
		for _, q := range w.Queues {
			for _, e := range q.Quotas {
				sums[e.Flavor+e.Resource] += e.Nominal
			}
		}
		var got []string
		for _, f := range w.Flavors {
			got = append(got, fmt.Sprintf("%s=%d/%d", f, sums[f+GPU], sums[f+CPU]))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %s, want %s", setting, text, want)
		}
		if r := w.Requests(&w.Jobs[0]); r[0] != (quota.Amount{Flavor: "a100", Resource: GPU, Amount: 6000}) {
			t.Errorf("%s: %v", setting, r)
		}
	}
}

// CPUs count in the place of GPUs if no job has a GPU; else they count where that is asked for, and jobs without a GPU are left out.
func TestCPUs(t *testing.T) {
	for text, want := range map[string]string{
		"job,submit,cpus,duration\na,0,2,60\n":                    "CPU 1 jobs, 2000/0",
		"job,submit,cpus,gpus,duration\na,0,2,1,60\nb,1,1,0,60\n": "GPU 1 jobs, 1000/0",
	} {
		trace, err := Read(writeFile(t, "jobs.csv", text), "", "", "")
		if err != nil {
			t.Fatal(err)
		}
		s := Defaults()
		s.Capacity = 100
		w := New(trace, s)
		if got := fmt.Sprintf("%s %d jobs, %d/%d", w.Unit, len(w.Jobs), w.GPU, w.CPU); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
