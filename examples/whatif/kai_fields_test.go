package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/internal/answers"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/playground/model"
)

// kaiWorld is a department of two queues with 8 GPUs each on two nodes of 8, where a group of 4 pods runs in the first
// and one waits in the second.
type kaiWorld struct {
	queues, nodes, pods, groups map[string]map[string]any
	others                      []map[string]any
}

func objectOf(t *testing.T, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}

func newKAIWorld(t *testing.T) *kaiWorld {
	w := &kaiWorld{map[string]map[string]any{}, map[string]map[string]any{}, map[string]map[string]any{}, map[string]map[string]any{}, nil}
	resources := func(gpus int) string {
		return fmt.Sprintf(`"resources":{"cpu":{"quota":-1,"limit":-1},"memory":{"quota":-1,"limit":-1},"gpu":{"quota":%d,"limit":-1,"overQuotaWeight":1}}`, gpus)
	}
	for name, spec := range map[string]string{
		"ml-platform": resources(16), "vision-research": `"parentQueue":"ml-platform",` + resources(8), "speech-research": `"parentQueue":"ml-platform",` + resources(8),
	} {
		w.queues[name] = objectOf(t, `{"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"`+name+`"},"spec":{`+spec+`}}`)
	}
	for _, name := range []string{"gpu-node-0", "gpu-node-1"} {
		w.nodes[name] = objectOf(t, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"`+name+`"},"spec":{},
			"status":{"allocatable":{"cpu":"64","memory":"512Gi","nvidia.com/gpu":"8","pods":"110"},"conditions":[{"type":"Ready","status":"True"},{"type":"MemoryPressure","status":"False"}]}}`)
	}
	for group, queueName := range map[string]string{"detector-train-7f3c1": "vision-research", "whisper-finetune-91ab2": "speech-research"} {
		w.groups[group] = objectOf(t, `{"apiVersion":"scheduling.run.ai/v2alpha2","kind":"PodGroup","metadata":{"name":"`+group+`","namespace":"n"},"spec":{"queue":"`+queueName+`","minMember":4,"preemptibility":"preemptible"}}`)
		for i := range 4 {
			name := fmt.Sprintf("%s-worker-%d", group, i)
			w.pods[name] = objectOf(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"`+name+`","namespace":"n","annotations":{"pod-group-name":"`+group+`"}},
				"spec":{"schedulerName":"kai-scheduler","containers":[{"name":"main","resources":{"requests":{"cpu":"8","memory":"64Gi","nvidia.com/gpu":"1"}}}],
				"volumes":[{"name":"token","projected":{"sources":[{"configMap":{"name":"kube-root-ca.crt"}}]}}]},"status":{"phase":"Pending"}}`)
			if queueName == "vision-research" {
				setIn(w.pods[name], "gpu-node-0", "spec", "nodeName")
				setIn(w.pods[name], "Running", "status", "phase")
			}
		}
	}
	return w
}

func setIn(o map[string]any, value any, path ...string) {
	for _, step := range path[:len(path)-1] {
		below, _ := o[step].(map[string]any)
		if below == nil {
			below = map[string]any{}
			o[step] = below
		}
		o = below
	}
	if value == nil {
		delete(o, path[len(path)-1])
		return
	}
	o[path[len(path)-1]] = value
}

func (w *kaiWorld) text(t *testing.T) string {
	var items []any
	for _, of := range []map[string]map[string]any{w.queues, w.nodes, w.pods, w.groups} {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			items = append(items, of[name])
		}
	}
	for _, o := range w.others {
		items = append(items, o)
	}
	data, err := json.Marshal(map[string]any{"kind": "List", "apiVersion": "v1", "items": items})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// What is said about the group that waits.
func TestFieldsOfKAI(t *testing.T) {
	const waits, runs = "whisper-finetune-91ab2", "detector-train-7f3c1"
	ofGroup := func(group string, do func(pod map[string]any)) func(*kaiWorld) {
		return func(w *kaiWorld) {
			for name, pod := range w.pods {
				if strings.HasPrefix(name, group) {
					do(pod)
				}
			}
		}
	}
	ofWaiting := func(do func(pod map[string]any)) func(*kaiWorld) { return ofGroup(waits, do) }
	resource := func(queueName, resource, field string, value any) func(*kaiWorld) {
		return func(w *kaiWorld) { setIn(w.queues[queueName], value, "spec", "resources", resource, field) }
	}
	beside := func(text string) func(*kaiWorld) {
		return func(w *kaiWorld) { w.others = append(w.others, objectOf(t, text)) }
	}
	for _, c := range []struct {
		name   string
		change func(*kaiWorld)
		want   string // the verdict, and the beginning of why
	}{
		{"as it is", func(*kaiWorld) {}, "Fits"},
		{"only the minimum counts", func(w *kaiWorld) { setIn(w.groups[waits], 2, "spec", "minMember") }, "Fits"},
		{"a limit that is met", resource("speech-research", "gpu", "limit", 4), "Fits"},
		{"a limit below", resource("speech-research", "gpu", "limit", 3), "Impossible"},
		{"no limit is none", resource("speech-research", "cpu", "limit", nil), "Impossible"},
		{"no section", func(w *kaiWorld) { setIn(w.queues["speech-research"], nil, "spec", "resources", "memory") }, "Impossible"},
		{"a limit of the department", resource("ml-platform", "gpu", "limit", 3), "Impossible"},
		{"the limit of the department with what runs", resource("ml-platform", "gpu", "limit", 7), "Impossible"},
		{"over the quota", resource("speech-research", "gpu", "quota", 3), "Fits"},
		{"quota 0 and no limit, as in the quick start", resource("speech-research", "gpu", "quota", 0), "Fits"},
		{"not preemptible and over", func(w *kaiWorld) {
			resource("speech-research", "gpu", "quota", 3)(w)
			setIn(w.groups[waits], "non-preemptible", "spec", "preemptibility")
		}, "Impossible"},
		{"not preemptible and over that of the department", func(w *kaiWorld) {
			resource("ml-platform", "gpu", "quota", 3)(w)
			setIn(w.groups[waits], "non-preemptible", "spec", "preemptibility")
		}, "Impossible"},
		{"not preemptible by its class", func(w *kaiWorld) {
			resource("speech-research", "gpu", "quota", 3)(w)
			setIn(w.groups[waits], nil, "spec", "preemptibility")
			setIn(w.groups[waits], "inference", "spec", "priorityClassName")
		}, "Impossible"},
		{"a class that is not there", func(w *kaiWorld) { setIn(w.groups[waits], "ours", "spec", "priorityClassName") }, "Unknown: PriorityClass \"ours\" is not in the input"},
		{"a class of what runs that is not there", func(w *kaiWorld) { setIn(w.groups[runs], "ours", "spec", "priorityClassName") }, "Unknown: PodGroup n/" + runs + ": PriorityClass \"ours\""},
		{"the default class", func(w *kaiWorld) {
			resource("speech-research", "gpu", "quota", 3)(w)
			setIn(w.groups[waits], nil, "spec", "preemptibility")
			beside(`{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"standard"},"value":1000,"globalDefault":true}`)(w)
		}, "Impossible"},
		{"two default classes", func(w *kaiWorld) {
			beside(`{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"one"},"value":10,"globalDefault":true}`)(w)
			beside(`{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"two"},"value":1000,"globalDefault":true}`)(w)
		}, "Unknown: PriorityClasses one and two are both the default: taken as priority 1000"},
		{"a queue of another version", func(w *kaiWorld) {
			w.queues["speech-research"]["apiVersion"] = "scheduling.run.ai/v1"
		}, "Unknown: Queue speech-research cannot be read: it is of version v1, and KAI reads v2"},
		{"a group that runs of another version", func(w *kaiWorld) {
			w.groups[runs]["apiVersion"] = "scheduling.run.ai/v2alpha1"
		}, "Unknown: PodGroup n/" + runs + " cannot be read: it is of version v2alpha1"},
		{"a pod of it cannot be read", func(w *kaiWorld) {
			setIn(w.pods[waits+"-worker-0"], []any{map[string]any{"resources": map[string]any{"requests": map[string]any{"cpu": "much"}}}}, "spec", "containers")
		}, "Unknown: Pod n/" + waits + "-worker-0 cannot be read"},
		{"a node without a name", beside(`{"apiVersion":"v1","kind":"Node","metadata":{},"status":{"allocatable":{"nvidia.com/gpu":"8"}}}`), "Unknown: standard input: item"},
		{"a negative minimum runtime", func(w *kaiWorld) { setIn(w.queues["ml-platform"], "-5m", "spec", "reclaimMinRuntime") }, "Unknown: Queue ml-platform: spec.reclaimMinRuntime is -5m0s"},
		{"a negative minimum runtime of the scheduler", beside(`{"apiVersion":"kai.scheduler/v1","kind":"SchedulingShard","metadata":{"name":"default"},"spec":{"minRuntime":{"preemptMinRuntime":"-1s"}}}`),
			"Unknown: SchedulingShard default: spec.minRuntime.preemptMinRuntime is -1s"},
		{"half a GPU of quota", resource("speech-research", "gpu", "quota", 0.5), "Fits"},
		{"half a GPU of limit", resource("speech-research", "gpu", "limit", 7.5), "Fits"},
		{"half a GPU of limit too little", resource("speech-research", "gpu", "limit", 3.5), "Impossible"},
		{"a part of a thousandth", resource("speech-research", "gpu", "quota", 0.0005), "Unknown: Queue speech-research: spec.resources.gpu.quota is 0.0005, and a part of a unit"},
		{"a quota below -1", resource("speech-research", "gpu", "quota", -2), "Unknown: Queue speech-research: spec.resources.gpu.quota is -2, and only -1 is unlimited"},
		{"a negative weight", resource("vision-research", "gpu", "overQuotaWeight", -1), "Unknown: Queue vision-research: spec.resources.gpu.overQuotaWeight is -1"},
		{"a weight that is not finite", resource("vision-research", "gpu", "overQuotaWeight", json.RawMessage("1e999")), "Unknown: Queue vision-research cannot be read"},
		{"a quota without end", resource("speech-research", "gpu", "quota", 1e30), "Fits"},
		{"no nodes", func(w *kaiWorld) { w.nodes = nil }, "Unknown: there are no nodes in the input"},
		{"no nodes, and a limit below", func(w *kaiWorld) {
			w.nodes = nil
			resource("speech-research", "gpu", "limit", 3)(w)
		}, "Impossible"},
		{"a field that is not known", ofWaiting(func(p map[string]any) { setIn(p, "gpu-node-0", "spec", "x") }), "Unknown: Pod n/" + waits + "-worker-0: spec.x is not a field that is known"},
		{"a node is cordoned", func(w *kaiWorld) { setIn(w.nodes["gpu-node-1"], true, "spec", "unschedulable") }, "Fits"},
		{"both are", func(w *kaiWorld) {
			setIn(w.nodes["gpu-node-0"], true, "spec", "unschedulable")
			setIn(w.nodes["gpu-node-1"], true, "spec", "unschedulable")
		}, "Impossible"},
		{"a node of a pool", func(w *kaiWorld) {
			for _, n := range w.nodes {
				setIn(n, map[string]any{"kai.scheduler/node-pool": "a"}, "metadata", "labels")
			}
		}, "Impossible"},
		{"a node that is not there", func(w *kaiWorld) { delete(w.nodes, "gpu-node-0") }, "Unknown: Node gpu-node-0 is not in the input"},
		{"other GPUs than the label says", func(w *kaiWorld) {
			setIn(w.nodes["gpu-node-1"], map[string]any{"nvidia.com/gpu.count": "4"}, "metadata", "labels")
		}, "Unknown: Node gpu-node-1: its label says 4 GPUs"},
		{"no condition", func(w *kaiWorld) { setIn(w.nodes["gpu-node-1"], nil, "status", "conditions") }, "Fits"},
		{"taints", func(w *kaiWorld) {
			for _, n := range w.nodes {
				setIn(n, []any{map[string]any{"key": "gpu", "effect": "NoSchedule"}}, "spec", "taints")
			}
		}, "Impossible"},
		{"taints that are tolerated", func(w *kaiWorld) {
			for _, n := range w.nodes {
				setIn(n, []any{map[string]any{"key": "gpu", "effect": "NoSchedule"}}, "spec", "taints")
			}
			ofWaiting(func(p map[string]any) {
				setIn(p, []any{map[string]any{"key": "gpu", "operator": "Exists"}}, "spec", "tolerations")
			})(w)
		}, "Fits"},
		{"only nodes that are not there", ofWaiting(func(p map[string]any) { setIn(p, map[string]any{"a": "b"}, "spec", "nodeSelector") }), "Impossible"},
		{"what runs has selected nodes", ofGroup(runs, func(p map[string]any) { setIn(p, map[string]any{"a": "b"}, "spec", "nodeSelector") }), "Fits"},
		{"apart from others", ofGroup(runs, func(p map[string]any) {
			setIn(p, []any{map[string]any{"topologyKey": "kubernetes.io/hostname"}}, "spec", "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
		}), "Unknown: Pod n/" + runs + "-worker-0: spec.affinity.podAntiAffinity"},
		{"a ConfigMap", ofWaiting(func(p map[string]any) {
			setIn(p, []any{map[string]any{"name": "c", "configMap": map[string]any{"name": "c"}}}, "spec", "volumes")
		}), "Unknown: Pod n/" + waits + "-worker-0: spec.volumes[0].configMap.name is not modelled"},
		{"a ConfigMap of what runs", ofGroup(runs, func(p map[string]any) {
			setIn(p, []any{map[string]any{"name": "c", "configMap": map[string]any{"name": "c"}}}, "spec", "volumes")
		}), "Fits"},
		{"gated", ofWaiting(func(p map[string]any) { setIn(p, []any{map[string]any{"name": "g"}}, "spec", "schedulingGates") }), "Held: KAI tries it once 4"},
		{"a pod is missing", func(w *kaiWorld) { delete(w.pods, waits+"-worker-3") }, "Held: KAI tries it once 4 of its pods can be placed together; 0 run, 3 wait"},
		{"no pod is there", func(w *kaiWorld) {
			maps.DeleteFunc(w.pods, func(name string, _ map[string]any) bool { return strings.HasPrefix(name, waits) })
		}, "Unknown: none of its pods is in the input"},
		{"part of a GPU runs", func(w *kaiWorld) {
			setIn(w.pods[runs+"-worker-0"], "0.5", "metadata", "annotations", "gpu-fraction")
		}, "Unknown: Pod n/" + runs + "-worker-0: it takes a part of a GPU and does not say of which"},
		{"one that runs is ending", func(w *kaiWorld) {
			setIn(w.pods[runs+"-worker-0"], "2026-11-27T12:00:00Z", "metadata", "deletionTimestamp")
		}, "Fits"},
		{"what runs has ended", ofGroup(runs, func(p map[string]any) { setIn(p, "Succeeded", "status", "phase") }), "Fits"},
		{"another scheduler's pods", func(w *kaiWorld) {
			for i := range 12 {
				w.others = append(w.others, objectOf(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"other-%d","namespace":"n"},
					"spec":{"schedulerName":"default-scheduler","nodeName":"gpu-node-%d","containers":[{"name":"c","resources":{"requests":{"nvidia.com/gpu":"1"}}}]},"status":{"phase":"Running"}}`, i, min(1, i/4))))
			}
		}, "Impossible"},
		{"the parent is not there", func(w *kaiWorld) { delete(w.queues, "ml-platform") }, "Unknown: Queue speech-research names the parent queue ml-platform"},
		{"the queue is not there", func(w *kaiWorld) { delete(w.queues, "speech-research") }, "Unknown: its queue \"speech-research\" is not in the input"},
		{"the queue of what runs is not there", func(w *kaiWorld) { setIn(w.groups[runs], "elsewhere", "spec", "queue") }, "Unknown: PodGroup n/" + runs + ": it runs in queue \"elsewhere\", which is no leaf"},
		{"the queue has queues below", func(w *kaiWorld) { setIn(w.groups[waits], "ml-platform", "spec", "queue") }, "Impossible: queue ml-platform has queues below it, and KAI runs nothing in such a queue"},
		{"a cycle", func(w *kaiWorld) { setIn(w.queues["ml-platform"], "speech-research", "spec", "parentQueue") }, "Unknown: Queues ml-platform, speech-research are a cycle"},
		{"a topology", func(w *kaiWorld) {
			setIn(w.groups[waits], "rack", "spec", "topologyConstraint", "requiredTopologyLevel")
		}, "Unknown: PodGroup n/" + waits + ": spec.topologyConstraint is not modelled"},
		{"a topology of what runs", func(w *kaiWorld) {
			setIn(w.groups[runs], "rack", "spec", "topologyConstraint", "requiredTopologyLevel")
		}, "Fits"},
		{"a gang in a gang that runs", func(w *kaiWorld) { setIn(w.groups[runs], []any{map[string]any{"name": "a"}}, "spec", "subGroups") }, "Unknown: PodGroup n/" + runs + ": spec.subGroups"},
		{"part of a GPU is asked for by another group", func(w *kaiWorld) {
			w.others = append(w.others, objectOf(t, `{"apiVersion":"scheduling.run.ai/v2alpha2","kind":"PodGroup","metadata":{"name":"small","namespace":"n"},"spec":{"queue":"vision-research"}}`),
				objectOf(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"small-0","namespace":"n","annotations":{"pod-group-name":"small","gpu-fraction":"0.5"}},"spec":{"schedulerName":"kai-scheduler","containers":[{"name":"c"}]},"status":{"phase":"Pending"}}`))
		}, "Fits"},
		{"a gang in a gang", func(w *kaiWorld) { setIn(w.groups[waits], []any{map[string]any{"name": "a"}}, "spec", "subGroups") }, "Unknown: PodGroup n/" + waits + ": spec.subGroups"},
		{"the same name elsewhere", beside(`{"apiVersion":"scheduling.run.ai/v2alpha2","kind":"PodGroup","metadata":{"name":"` + waits + `","namespace":"other"},"spec":{"queue":"vision-research"}}`),
			"Unknown: PodGroup other/" + waits},
		{"a bind request of nobody", beside(`{"apiVersion":"scheduling.run.ai/v1alpha2","kind":"BindRequest","metadata":{"name":"b","namespace":"n"},"spec":{"podName":"gone","selectedNode":"gpu-node-1"}}`), "Fits"},
		{"a bind request with a slice of a GPU", beside(`{"apiVersion":"scheduling.run.ai/v1alpha2","kind":"BindRequest","metadata":{"name":"b","namespace":"n"},"spec":{"podName":"gone","selectedNode":"gpu-node-1","receivedResourceType":"MigInstance"}}`),
			"Unknown: BindRequest n/b: spec.receivedResourceType is not modelled"},
		{"an object of no version", beside(`{"apiVersion":"v1","kind":"podgroup","metadata":{"name":"b","namespace":"n"},"spec":{}}`), "Unknown: podgroup n/b cannot be read"},
		{"the scheduler's own settings", beside(`{"apiVersion":"kai.scheduler/v1","kind":"SchedulingShard","metadata":{"name":"default"},"spec":{"placementStrategy":{"gpu":"spread"}}}`),
			"Unknown: SchedulingShard default: spec.placementStrategy.gpu is not modelled"},
		{"the scheduler's defaults", beside(`{"apiVersion":"kai.scheduler/v1","kind":"SchedulingShard","metadata":{"name":"default"},"spec":{"placementStrategy":{"gpu":"binpack","cpu":"binpack"}}}`), "Fits"},
		{"minimum runtimes of two schedulers", func(w *kaiWorld) {
			for i, minimum := range []string{"5m", "6m"} {
				w.others = append(w.others, objectOf(t, fmt.Sprintf(`{"apiVersion":"kai.scheduler/v1","kind":"SchedulingShard","metadata":{"name":"s%d"},"spec":{"minRuntime":{"reclaimMinRuntime":"%s"}}}`, i, minimum)))
			}
		}, "Unknown: SchedulingShard s1: it has other minimum runtimes than another SchedulingShard"},
		{"a minimum runtime that is none", beside(`{"apiVersion":"kai.scheduler/v1","kind":"SchedulingShard","metadata":{"name":"default"},"spec":{"minRuntime":{"reclaimMinRuntime":"soon"}}}`),
			"Unknown: SchedulingShard default cannot be read"},
	} {
		w := newKAIWorld(t)
		c.change(w)
		status, stdout, stderr := call(strings.NewReader(w.text(t)), "-f", "-", "-at", "2026-11-27T12:00:00Z", "-workload", "n/"+waits, "-o", "json")
		var got struct {
			Verdict struct{ Outcome, Why string }
			Notes   []string
		}
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || stderr != "" {
			t.Errorf("%s: status %d, %v, %q", c.name, status, err, stderr)
			continue
		}
		is := got.Verdict.Outcome
		if got.Verdict.Why != "" {
			is += ": " + got.Verdict.Why
			for _, note := range got.Notes { // all doubts are among the notes
				if strings.HasPrefix(got.Verdict.Outcome+": "+note, c.want) {
					is = got.Verdict.Outcome + ": " + note
				}
			}
		}
		if !strings.HasPrefix(is, c.want) {
			t.Errorf("%s: %q, want %q", c.name, is, c.want)
		}
		alsoElsewhere(t, c.name, w.text(t), "n/"+waits, got.Verdict.Outcome)
	}
}

// alsoElsewhere asks next and the page about the only group that waits.
func alsoElsewhere(t *testing.T, name, text, id, outcome string) {
	t.Helper()
	status, stdout, stderr := call(strings.NewReader(text), "next", "-f", "-", "-at", kaiNow.Format(time.RFC3339), "-cycles", "1", "-o", "json")
	var got kaiNext
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || stderr != "" {
		t.Errorf("%s: next: %v, %q", name, err, stderr)
	}
	starts := slices.ContainsFunc(got.Heads, func(h kaiHead) bool { return h.Workload == id && h.Outcome == "Admit" })
	if want := map[string]int{"Fits": 0, "Unknown": 3}[outcome]; starts != (outcome == "Fits") || (status == 3) != (want == 3) {
		t.Errorf("%s: next: status %d, it starts: %t, want %s\n%s", name, status, starts, outcome, stdout)
	}
	in := must(answers.Read([]objects.Source{{Name: "-", Reader: strings.NewReader(text)}}, ""))(t)
	m := must(model.New(model.FromInput(in, "-", kaiNow)))(t)
	if err := m.Select(id); err != nil || m.Ask().Outcome != outcome {
		t.Errorf("%s: the page says %+v, %v", name, m.Ask(), err)
	}
}

// A PodGroup that cannot be read may wait: whether it fits is unknown, and it is named.
func TestPodGroupsThatCannotBeRead(t *testing.T) {
	const cluster = `{"apiVersion":"v1","kind":"List","items":[
		{"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"team"},"spec":{"resources":{"gpu":{"quota":4,"limit":-1,"overQuotaWeight":1}}}},
		{"apiVersion":"scheduling.run.ai/%s","kind":"PodGroup","metadata":{"name":"train-7c9f","namespace":"lab"%s},"spec":{"queue":"team"%s}},
		{"apiVersion":"v1","kind":"Node","metadata":{"name":"gpu-1"},"status":{"allocatable":{"cpu":"64","memory":"256Gi","nvidia.com/gpu":"8","pods":"110"},"conditions":[{"type":"Ready","status":"True"}]}}]}`
	for name, c := range map[string][3]string{
		"a text as a number": {"v2alpha2", "", `,"minMember":"two"`},
		"another version":    {"v2alpha9", "", ""},
		"a time that is odd": {"v2alpha2", `,"creationTimestamp":"yesterday"`, ""},
		"a list as a text":   {"v2alpha2", "", `,"priorityClassName":["train"]`},
	} {
		text := fmt.Sprintf(cluster, c[0], c[1], c[2])
		for _, args := range [][]string{{"overview"}, {"ask", "lab/train-7c9f"}, {"why", "lab/train-7c9f"}, {"next"}} {
			status, out, said := call(strings.NewReader(text), args...)
			if status != 3 || !strings.Contains(out, "lab/train-7c9f") {
				t.Errorf("%s: %v: status %d: %s%s", name, args, status, out, said)
			}
		}
	}
}
