package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"testing"
	"time"
)

// ofKAI writes a cluster of KAI as kubectl prints it. Names are long, as the programs that make groups give them; a test says the short
// ones.
type ofKAI struct {
	items []map[string]any
	long  map[string]string // by short name
}

// kaiNow is the time at which these clusters are asked about.
var kaiNow = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

const kaiNamespace = "research-2f9c"

func newKAI() *ofKAI {
	k := &ofKAI{long: map[string]string{}}
	for name, value := range map[string]int{"train": 50, "build-preemptible": 75, "build": 100, "inference": 125} {
		k.add("scheduling.k8s.io/v1", "PriorityClass", map[string]any{"name": name}, nil, map[string]any{}, "value", value)
	}
	return k
}

// add adds an object; more are its fields beside.
func (k *ofKAI) add(version, kind string, metadata, spec, status map[string]any, more ...any) map[string]any {
	o := map[string]any{"apiVersion": version, "kind": kind, "metadata": metadata}
	if spec != nil {
		o["spec"], o["status"] = spec, status
	}
	for i := 0; i < len(more); i += 2 {
		o[more[i].(string)] = more[i+1]
	}
	if _, is := metadata["uid"]; !is {
		metadata["uid"] = fmt.Sprintf("%08x-7b1e-4f0a-9c3d-%012x", hashOf(fmt.Sprint(kind, metadata["name"])), len(k.items))
	}
	if _, is := metadata["creationTimestamp"]; !is {
		metadata["creationTimestamp"] = "2026-11-20T08:00:00Z"
	}
	k.items = append(k.items, o)
	return o
}

func hashOf(text string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(text))
	return h.Sum32()
}

func (k *ofKAI) name(short string) string {
	if k.long[short] == "" {
		k.long[short] = fmt.Sprintf("pg-%s-%08x-5f7c9d8b64", short, hashOf(short))
	}
	return k.long[short]
}

// kaiQueue is a queue; -1 is unlimited. CPU and memory are unlimited but for cpu.
type kaiQueue struct {
	name, parent string
	gpu, weight  float64
	cpu          float64
	reclaim      string // minimum runtime
	noLimit      bool   // the field is absent
	age          int    // minutes
	priority     int    // 0: absent
}

func (k *ofKAI) queue(q kaiQueue) map[string]any {
	resource := func(quota float64) map[string]any {
		r := map[string]any{"quota": quota, "limit": -1, "overQuotaWeight": q.weight}
		if q.noLimit {
			delete(r, "limit")
		}
		return r
	}
	spec := map[string]any{"displayName": q.name, "resources": map[string]any{"cpu": resource(q.cpu), "memory": resource(-1), "gpu": resource(q.gpu)}}
	if q.noLimit {
		spec["resources"].(map[string]any)["cpu"] = map[string]any{"quota": q.cpu, "limit": -1, "overQuotaWeight": 1}
		spec["resources"].(map[string]any)["memory"] = map[string]any{"quota": -1, "limit": -1, "overQuotaWeight": 1}
	}
	if q.parent != "" {
		spec["parentQueue"] = q.parent
	}
	if q.reclaim != "" {
		spec["reclaimMinRuntime"] = q.reclaim
	}
	if q.priority != 0 {
		spec["priority"] = q.priority
	}
	return k.add("scheduling.run.ai/v2", "Queue", map[string]any{"name": q.name, "creationTimestamp": ago(10000 + q.age)}, spec, map[string]any{"allocated": map[string]any{}})
}

func ago(minutes int) string {
	return kaiNow.Add(-time.Duration(minutes) * time.Minute).Format(time.RFC3339)
}

func (k *ofKAI) node(name string, gpus int) map[string]any {
	return k.add("v1", "Node", map[string]any{"name": name, "labels": map[string]any{"kubernetes.io/hostname": name, "nvidia.com/gpu.count": fmt.Sprint(gpus)}}, map[string]any{},
		map[string]any{"allocatable": map[string]any{"cpu": "128", "memory": "1Ti", "pods": "110", "nvidia.com/gpu": fmt.Sprint(gpus)},
			"conditions": []any{map[string]any{"type": "Ready", "status": "True"}, map[string]any{"type": "MemoryPressure", "status": "False"}}})
}

// kaiJob is a pod group with its pods, each with 1 CPU.
type kaiJob struct {
	name, queue, class string
	pods, min, gpus    int    // 0: 1
	node               string // of the pods that run; empty: they wait
	age, started       int    // minutes; started 0: a minute after the creation
}

func (k *ofKAI) job(j kaiJob) (group map[string]any, pods []map[string]any) {
	name := k.name(j.name)
	meta := map[string]any{"name": name, "namespace": kaiNamespace, "creationTimestamp": ago(j.age), "annotations": map[string]any{}}
	if j.node != "" {
		meta["annotations"].(map[string]any)["kai.scheduler/last-start-timestamp"] = ago(max(j.started, 0))
		if j.started == 0 {
			meta["annotations"].(map[string]any)["kai.scheduler/last-start-timestamp"] = ago(j.age - 1)
		}
	}
	if j.class == "" {
		j.class = "train"
	}
	group = k.add("scheduling.run.ai/v2alpha2", "PodGroup", meta, map[string]any{"queue": j.queue, "priorityClassName": j.class, "minMember": max(1, j.min)}, map[string]any{})
	for i := range max(1, j.pods) {
		spec := map[string]any{"schedulerName": "kai-scheduler", "containers": []any{map[string]any{"name": "worker", "image": "registry.example.com/ml/trainer:2.4",
			"resources": map[string]any{"requests": map[string]any{"cpu": "1", "memory": "1G", "nvidia.com/gpu": fmt.Sprint(max(1, j.gpus))}, "limits": map[string]any{"nvidia.com/gpu": fmt.Sprint(max(1, j.gpus))}}}}}
		status := map[string]any{"phase": "Pending"}
		if j.node != "" {
			spec["nodeName"], status["phase"] = j.node, "Running"
		}
		pods = append(pods, k.add("v1", "Pod", map[string]any{"name": fmt.Sprintf("%s-worker-%d", name, i), "namespace": kaiNamespace, "creationTimestamp": ago(j.age),
			"uid": fmt.Sprintf("%08x-7b1e-4f0a-9c3d-%012d", hashOf(name), i), "annotations": map[string]any{"pod-group-name": name}, "labels": map[string]any{"kai.scheduler/queue": j.queue}}, spec, status))
	}
	return group, pods
}

// jobs adds jobs of one pod each, the oldest first: NAME0, NAME1, ...
func (k *ofKAI) jobs(n int, j kaiJob) {
	name, age := j.name, j.age
	for i := range n {
		j.name, j.age = fmt.Sprint(name, i), age-i
		k.job(j)
	}
}

func (k *ofKAI) text(t *testing.T) string {
	t.Helper()
	data, err := json.Marshal(map[string]any{"kind": "List", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": ""}, "items": k.items})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
