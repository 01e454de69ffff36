package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/preemption/recorded"
)

// kaiSession is what KAI decided in one session.
type kaiSession struct {
	ID             string
	Kind           string
	OrderDependent bool `json:"order_dependent"`
	Input          struct {
		Action string
		Nodes  map[string]struct{ GPUs, MilliCPU, Memory float64 }
		Queues []struct {
			Name, Parent             string
			Created                  int
			Priority                 int
			CPU, Memory, GPU         kaiSessionClaim
			ReclaimMinRuntimeMinutes *int
			PreemptMinRuntimeMinutes *int
		}
		Jobs     []kaiSessionJob
		Settings struct {
			Reclaim *int   `json:"defaultReclaimMinRuntimeMinutes"`
			Preempt *int   `json:"defaultPreemptMinRuntimeMinutes"`
			Method  string `json:"reclaimResolveMethod"`
		}
	}
	Want struct {
		Decided struct{ Evicted, Moved, Undone []struct{ Task string } }
	}
}

type kaiSessionClaim struct{ Deserved, Limit, OverQuotaWeight float64 }

type kaiSessionJob struct {
	Name, Queue    string
	AgeMinutes     int
	StartedMinutes *int
	Priority       int
	Preemptible    bool
	PerTask        struct{ CPUsPerTask, MemoryPerTask, GPUsPerTask float64 }
	Tasks          []struct{ Name, State, Node string }
	Groups         struct{ PodSets []struct{ MinAvailable int } }
}

// objects are the session as objects of KAI.
func (s *kaiSession) objects() *ofKAI {
	k := &ofKAI{}
	classes := map[int]bool{}
	for _, j := range s.Input.Jobs {
		if n := j.Priority; !classes[n] {
			classes[n] = true
			k.add("scheduling.k8s.io/v1", "PriorityClass", map[string]any{"name": fmt.Sprint("p", n)}, nil, nil, "value", n)
		}
	}
	for _, q := range s.Input.Queues {
		resource := func(c kaiSessionClaim, unit float64) map[string]any {
			of := func(n float64) float64 {
				if n < 0 {
					return n
				}
				return n / unit
			}
			return map[string]any{"quota": of(c.Deserved), "limit": of(c.Limit), "overQuotaWeight": c.OverQuotaWeight}
		}
		spec := map[string]any{"parentQueue": q.Parent, "priority": q.Priority,
			"resources": map[string]any{"cpu": resource(q.CPU, 1), "memory": resource(q.Memory, 1e6), "gpu": resource(q.GPU, 1)}}
		for field, minutes := range map[string]*int{"reclaimMinRuntime": q.ReclaimMinRuntimeMinutes, "preemptMinRuntime": q.PreemptMinRuntimeMinutes} {
			if minutes != nil {
				spec[field] = fmt.Sprint(*minutes, "m")
			}
		}
		k.add("scheduling.run.ai/v2", "Queue", map[string]any{"name": q.Name, "creationTimestamp": fmt.Sprintf("2026-11-01T00:%02d:%02dZ", q.Created/60, q.Created%60)}, spec, map[string]any{})
	}
	for name, n := range s.Input.Nodes {
		k.add("v1", "Node", map[string]any{"name": name}, map[string]any{}, map[string]any{
			"allocatable": map[string]any{"cpu": fmt.Sprint(int64(n.MilliCPU), "m"), "memory": fmt.Sprint(int64(n.Memory)), "nvidia.com/gpu": fmt.Sprint(int64(n.GPUs))},
			"conditions":  []any{map[string]any{"type": "Ready", "status": "True"}}})
	}
	for _, j := range s.Input.Jobs {
		annotations := map[string]any{}
		if j.StartedMinutes != nil {
			annotations["kai.scheduler/last-start-timestamp"] = ago(*j.StartedMinutes)
		}
		class := map[bool]string{true: "preemptible", false: "non-preemptible"}[j.Preemptible]
		k.add("scheduling.run.ai/v2alpha2", "PodGroup", map[string]any{"name": j.Name, "namespace": kaiNamespace, "creationTimestamp": ago(j.AgeMinutes), "annotations": annotations},
			map[string]any{"queue": j.Queue, "priorityClassName": fmt.Sprint("p", j.Priority), "preemptibility": class, "minMember": j.Groups.PodSets[0].MinAvailable}, map[string]any{})
		for i, task := range j.Tasks {
			spec := map[string]any{"schedulerName": "kai-scheduler", "containers": []any{map[string]any{"name": "c", "resources": map[string]any{"requests": map[string]any{
				"cpu": fmt.Sprint(int64(j.PerTask.CPUsPerTask), "m"), "memory": fmt.Sprint(int64(j.PerTask.MemoryPerTask)), "nvidia.com/gpu": fmt.Sprint(int64(j.PerTask.GPUsPerTask))}}}}}
			phase := "Pending"
			if task.State == "Running" {
				spec["nodeName"], phase = task.Node, "Running"
			}
			k.add("v1", "Pod", map[string]any{"name": task.Name, "namespace": kaiNamespace, "uid": fmt.Sprintf("u-%04d", i), "creationTimestamp": ago(j.AgeMinutes),
				"annotations": map[string]any{"pod-group-name": j.Name}}, spec, map[string]any{"phase": phase})
		}
	}
	return k
}

// asked reports whether the session has one question that the programs are asked: all of KAI's defaults, one job that waits.
func (s *kaiSession) asked() (job *kaiSessionJob, is bool) {
	of := &s.Input.Settings
	if s.OrderDependent || slices.Contains([]string{"usage", "fraction", "saturation", "ties"}, s.Kind) || !strings.Contains(s.Input.Action, "allocate,reclaim") ||
		of.Reclaim != nil || of.Preempt != nil || of.Method != "" && of.Method != "lca" || len(s.Want.Decided.Moved) > 0 {
		return nil, false
	}
	for i := range s.Input.Jobs {
		if j := &s.Input.Jobs[i]; j.Tasks[len(j.Tasks)-1].State == "Pending" {
			if job != nil || len(j.Tasks) > j.Groups.PodSets[0].MinAvailable { // several chunks are served in one session
				return nil, false
			}
			job = j
		}
	}
	return job, job != nil
}

// besideKAI opens a file of what KAI decided.
func besideKAI(t *testing.T, name string) *os.File {
	t.Helper()
	data, err := os.Open(filepath.Join("../../../shared/kai", name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("what KAI decided is not beside this checkout")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { data.Close() })
	return data
}

// Sessions of KAI, as its objects: the victims are KAI's in 98 of 100. The others are those of the library, which puts back what is not
// needed, and passes over those that may not yield where KAI's search ends.
func TestSessionsOfKAI(t *testing.T) {
	count, equal := 0, 0
	err := recorded.Lines("reclaim", besideKAI(t, "reclaim.jsonl.gz"), func(_ int, line []byte) error {
		var s kaiSession
		if err := json.Unmarshal(line, &s); err != nil {
			return err
		}
		job, is := s.asked()
		if !is || count == 300 {
			return nil
		}
		k := s.objects()
		k.long = map[string]string{}
		for _, j := range s.Input.Jobs {
			k.long[j.Name] = j.Name
		}
		_, stdout, stderr := call(strings.NewReader(k.text(t)), "-f", "-", "-at", "2026-11-27T12:00:00Z", "-workload", kaiNamespace+"/"+job.Name, "-o", "json")
		got, reclaims := s.victims(t, stdout, stderr)
		var want []string
		for _, v := range s.Want.Decided.Evicted {
			want = append(want, v.Task)
		}
		slices.Sort(want)
		if len(want) == 0 && len(got) > 0 && !reclaims { // the session ended before KAI preempts in the own queue
			return nil
		}
		if count++; slices.Equal(got, want) {
			equal++
		}
		return nil
	})
	if err != nil || count < 300 || equal*100 < count*98 {
		t.Errorf("%v: %d of %d are equal", err, equal, count)
	}
}

// victims are the tasks that yield, sorted; reclaims reports whether one is of another queue.
func (s *kaiSession) victims(t *testing.T, stdout, stderr string) (tasks []string, reclaims bool) {
	t.Helper()
	var got struct {
		Verdict  struct{ Outcome, Why string }
		Decision struct {
			Victims []struct {
				Workload, Reason string
				Replicas         []struct{ Count int }
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || stderr != "" || got.Verdict.Outcome == "Unknown" {
		t.Fatalf("%s: %v, %q, %s", s.ID, err, stderr, got.Verdict.Why)
	}
	if got.Verdict.Outcome != "Preempt" {
		return nil, false
	}
	for _, v := range got.Decision.Victims {
		reclaims = reclaims || v.Reason != "InClusterQueue"
		for _, j := range s.Input.Jobs {
			if kaiNamespace+"/"+j.Name != v.Workload {
				continue
			}
			n := len(j.Tasks)
			if len(v.Replicas) > 0 {
				n = v.Replicas[0].Count
			}
			for _, task := range j.Tasks[len(j.Tasks)-n:] {
				tasks = append(tasks, task.Name)
			}
		}
	}
	slices.Sort(tasks)
	return tasks, reclaims
}
