package kai_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/read"
)

// world is a department of two queues with 8 GPUs each on two nodes of 8, where a group of 4 pods runs in the first
// and one waits in the second.
type world struct {
	queues, nodes, pods, groups map[string]map[string]any
	others                      []map[string]any
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}

func newWorld(t *testing.T) *world {
	w := &world{map[string]map[string]any{}, map[string]map[string]any{}, map[string]map[string]any{}, map[string]map[string]any{}, nil}
	resources := func(gpus int) string {
		return fmt.Sprintf(`"resources":{"cpu":{"quota":-1,"limit":-1},"memory":{"quota":-1,"limit":-1},"gpu":{"quota":%d,"limit":-1,"overQuotaWeight":1}}`, gpus)
	}
	for name, spec := range map[string]string{
		"ml-platform": resources(16), "vision-research": `"parentQueue":"ml-platform",` + resources(8), "speech-research": `"parentQueue":"ml-platform",` + resources(8),
	} {
		w.queues[name] = object(t, `{"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"`+name+`"},"spec":{`+spec+`}}`)
	}
	for _, name := range []string{"gpu-node-0", "gpu-node-1"} {
		w.nodes[name] = object(t, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"`+name+`"},"spec":{},
			"status":{"allocatable":{"cpu":"64","memory":"512Gi","nvidia.com/gpu":"8","pods":"110"},"conditions":[{"type":"Ready","status":"True"},{"type":"MemoryPressure","status":"False"}]}}`)
	}
	for group, queueName := range map[string]string{"detector-train-7f3c1": "vision-research", "whisper-finetune-91ab2": "speech-research"} {
		w.groups[group] = object(t, `{"apiVersion":"scheduling.run.ai/v2alpha2","kind":"PodGroup","metadata":{"name":"`+group+`","namespace":"n"},"spec":{"queue":"`+queueName+`","minMember":4,"preemptibility":"preemptible"}}`)
		for i := range 4 {
			name := fmt.Sprintf("%s-worker-%d", group, i)
			w.pods[name] = object(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"`+name+`","namespace":"n","annotations":{"pod-group-name":"`+group+`"}},
				"spec":{"schedulerName":"kai-scheduler","containers":[{"name":"main","resources":{"requests":{"cpu":"8","memory":"64Gi","nvidia.com/gpu":"1"}}}],
				"volumes":[{"name":"token","projected":{"sources":[{"configMap":{"name":"kube-root-ca.crt"}}]}}]},"status":{"phase":"Pending"}}`)
			if queueName == "vision-research" {
				set(w.pods[name], "gpu-node-0", "spec", "nodeName")
				set(w.pods[name], "Running", "status", "phase")
			}
		}
	}
	return w
}

func set(o map[string]any, value any, path ...string) {
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

func (w *world) text(t *testing.T) string {
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

// What is said about a group: yes and no are sure, everything else is unknown.
func TestWhatIsSure(t *testing.T) {
	const waits, runs = "whisper-finetune-91ab2", "detector-train-7f3c1"
	ofWaiting := func(do func(pod map[string]any)) func(*world) {
		return func(w *world) {
			for name, pod := range w.pods {
				if strings.HasPrefix(name, waits) {
					do(pod)
				}
			}
		}
	}
	limits := func(queueName, resource string, value any) func(*world) {
		return func(w *world) { set(w.queues[queueName], value, "spec", "resources", resource, "limit") }
	}
	for _, c := range []struct {
		name   string
		change func(*world)
		want   string // yes, or the beginning of why not
	}{
		{"as it is", func(*world) {}, "yes"},
		{"only the minimum counts", func(w *world) { set(w.groups[waits], 2, "spec", "minMember") }, "yes"},
		{"a limit that is met", limits("speech-research", "gpu", 4), "yes"},
		{"a limit below", limits("speech-research", "gpu", 3), "no: queue speech-research may have 3 of nvidia.com/gpu at most (limit)"},
		{"no limit is none", limits("speech-research", "cpu", nil), "no: queue speech-research may have 0m of cpu at most (limit)"},
		{"no section", func(w *world) { set(w.queues["speech-research"], nil, "spec", "resources", "memory") }, "no: queue speech-research may have 0M of memory"},
		{"a limit of the department", limits("ml-platform", "gpu", 3), "no: queue ml-platform may have 3"},
		{"the limit of the department with what runs", limits("ml-platform", "gpu", 7), "unknown: with it queue ml-platform is over its limit"},
		{"over the quota", func(w *world) { set(w.queues["speech-research"], 3, "spec", "resources", "gpu", "quota") }, "unknown: with it queue speech-research is over its quota"},
		{"over the quota of the department", func(w *world) { set(w.queues["ml-platform"], 7, "spec", "resources", "gpu", "quota") }, "unknown: with it queue ml-platform is over its quota"},
		{"not preemptible and over", func(w *world) {
			set(w.queues["speech-research"], 3, "spec", "resources", "gpu", "quota")
			set(w.groups[waits], "non-preemptible", "spec", "preemptibility")
		}, "no: KAI gives what is not preemptible nothing above the quota: with it queue speech-research has 4"},
		{"not preemptible by its class", func(w *world) {
			set(w.queues["speech-research"], 3, "spec", "resources", "gpu", "quota")
			set(w.groups[waits], nil, "spec", "preemptibility")
			set(w.groups[waits], "inference", "spec", "priorityClassName")
		}, "no: KAI gives what is not preemptible nothing"},
		{"a class that is not there", func(w *world) {
			set(w.queues["speech-research"], 3, "spec", "resources", "gpu", "quota")
			set(w.groups[waits], nil, "spec", "preemptibility")
			set(w.groups[waits], "ours", "spec", "priorityClassName")
		}, "unknown: with it queue speech-research is over its quota"},
		{"quota 0 and no limit, as in the quick start", func(w *world) { set(w.queues["speech-research"], 0, "spec", "resources", "gpu", "quota") }, "unknown: with it"},
		{"a fraction of a quota", func(w *world) { set(w.queues["speech-research"], 4.5, "spec", "resources", "gpu", "quota") }, "unknown: Queue speech-research: its quota"},
		{"no nodes", func(w *world) { w.nodes = nil }, "unknown: there are no nodes in the input"},
		{"no room", ofWaiting(func(p map[string]any) { set(p, "gpu-node-0", "spec", "x") }), "unknown: Pod n/" + waits + "-worker-0: spec.x is not a field that is known"},
		{"a node is cordoned", func(w *world) { set(w.nodes["gpu-node-1"], true, "spec", "unschedulable") }, "yes"},
		{"both are", func(w *world) {
			set(w.nodes["gpu-node-0"], true, "spec", "unschedulable")
			set(w.nodes["gpu-node-1"], true, "spec", "unschedulable")
		}, "unknown: idle nodes have room for 0 of 4 pods"},
		{"a node of a pool", func(w *world) {
			for _, n := range w.nodes {
				set(n, map[string]any{"kai.scheduler/node-pool": "a"}, "metadata", "labels")
			}
		}, "unknown: idle nodes have room for 0 of 4 pods"},
		{"gated", ofWaiting(func(p map[string]any) { set(p, []any{map[string]any{"name": "g"}}, "spec", "schedulingGates") }), "held: KAI tries it once 4"},
		{"a pod is missing", func(w *world) { delete(w.pods, waits+"-worker-3") }, "held: KAI tries it once 4 of its pods can be placed together; there are 3"},
		{"no pod is there", func(w *world) {
			maps.DeleteFunc(w.pods, func(name string, _ map[string]any) bool { return strings.HasPrefix(name, waits) })
		}, "unknown: none of its pods is in the input"},
		{"only some nodes", ofWaiting(func(p map[string]any) { set(p, map[string]any{"a": "b"}, "spec", "nodeSelector") }), "unknown: Pod n/" + waits + "-worker-0: spec.nodeSelector is not modelled"},
		{"part of a GPU runs", func(w *world) {
			set(w.pods[runs+"-worker-0"], "0.5", "metadata", "annotations", "gpu-fraction")
		}, "unknown: Pod n/" + runs + "-worker-0: metadata.annotations[gpu-fraction]"},
		{"one that runs is ending", func(w *world) {
			set(w.pods[runs+"-worker-0"], "2026-11-27T12:00:00Z", "metadata", "deletionTimestamp")
		}, "unknown: Pod n/" + runs + "-worker-0: it is ending"},
		{"what runs has ended", func(w *world) {
			for name, p := range w.pods {
				if strings.HasPrefix(name, runs) {
					set(p, "Succeeded", "status", "phase")
				}
			}
		}, "yes"},
		{"the parent is not there", func(w *world) { delete(w.queues, "ml-platform") }, "unknown: queue speech-research names the parent queue ml-platform"},
		{"a topology", func(w *world) { set(w.groups[waits], "rack", "spec", "topologyConstraint", "requiredTopologyLevel") }, "unknown: PodGroup n/" + waits + ": spec.topologyConstraint is not modelled"},
		{"a gang in a gang", func(w *world) { set(w.groups[waits], []any{map[string]any{"name": "a"}}, "spec", "subGroups") }, "unknown: PodGroup n/" + waits + ": spec.subGroups"},
		{"the same name elsewhere", func(w *world) {
			w.others = append(w.others, object(t, `{"apiVersion":"scheduling.run.ai/v2alpha2","kind":"PodGroup","metadata":{"name":"`+waits+`","namespace":"other"},"spec":{"queue":"vision-research"}}`))
		}, "unknown: PodGroup other/" + waits},
		{"a bind request", func(w *world) {
			w.others = append(w.others, object(t, `{"apiVersion":"scheduling.run.ai/v1alpha2","kind":"BindRequest","metadata":{"name":"b","namespace":"n"},"spec":{"selectedNode":"gpu-node-1"}}`))
		}, "unknown: BindRequest n/b: spec is not modelled"},
		{"an object of no version", func(w *world) {
			w.others = append(w.others, object(t, `{"apiVersion":"v1","kind":"podgroup","metadata":{"name":"b","namespace":"n"},"spec":{}}`))
		}, "unknown: podgroup n/b cannot be read"},
		{"the scheduler's own settings", func(w *world) {
			w.others = append(w.others, object(t, `{"apiVersion":"kai.scheduler/v1","kind":"SchedulingShard","metadata":{"name":"default"},"spec":{"placementStrategy":{"gpu":"spread"}}}`))
		}, "unknown: SchedulingShard default: spec is not modelled"},
	} {
		w := newWorld(t)
		c.change(w)
		got, err := read.OfKAI(strings.NewReader(w.text(t)))
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(got.Pending, func(p bridge.Pending) bool { return p.Workload.ID == "n/"+waits })
		if at < 0 {
			t.Errorf("%s: it does not wait: %+v", c.name, got.Pending)
			continue
		}
		p := got.Pending[at]
		is := "yes"
		stops := slices.IndexFunc(p.Notes, func(n bridge.Note) bool { return n.Stops })
		switch doubts := got.DoubtsOn(p.Workload.ID, p.Workload.Queue); {
		case stops >= 0:
			is = "held: " + p.Notes[stops].Text
		case p.Refused != "":
			is = "no: " + p.Refused
		case len(doubts) > 0:
			is = "unknown: " + doubts[0].Text
			for _, d := range doubts {
				if strings.HasPrefix("unknown: "+d.Text, c.want) {
					is = "unknown: " + d.Text
				}
			}
		}
		if !strings.HasPrefix(is, c.want) {
			t.Errorf("%s: %q, want %q", c.name, is, c.want)
		}
	}
}
