package main

import (
	"fmt"
	"strings"
	"testing"
)

// sharers adds a job of which each pod takes a part of a GPU; devices are the GPUs on which the pods run that do.
func (k *ofKAI) sharers(j kaiJob, annotation, part string, devices ...string) []map[string]any {
	_, pods := k.job(j)
	for i, p := range pods {
		meta, container := p["metadata"].(map[string]any), p["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
		meta["annotations"].(map[string]any)[annotation] = part
		container["resources"] = map[string]any{"requests": map[string]any{"cpu": "1", "memory": "1G"}}
		if i < len(devices) {
			meta["labels"].(map[string]any)["runai-gpu-group"] = deviceID(devices[i])
			meta["annotations"].(map[string]any)["received-resource-type"] = "Fraction"
		}
	}
	return pods
}

// deviceID is a name of a GPU as KAI gives them.
func deviceID(short string) string {
	return fmt.Sprintf("%08x-52f1-4b7e-9d11-6a0b5f3c2e71", hashOf(short))
}

// reserve adds the pod by which KAI holds a GPU that others share.
func (k *ofKAI) reserve(node, device string) {
	k.add("v1", "Pod", map[string]any{"name": "gpu-reservation-" + node + "-" + device, "namespace": "kai-resource-reservation",
		"labels": map[string]any{"app": "kai-resource-reservation", "runai-gpu-group": deviceID(device)}},
		map[string]any{"nodeName": node, "containers": []any{map[string]any{"name": "resource-reservation", "resources": map[string]any{"requests": map[string]any{"nvidia.com/gpu": "1"}}}}},
		map[string]any{"phase": "Running"})
}

// memory says how much memory the GPUs of nodes have.
func (k *ofKAI) memory(mib string, nodes ...string) {
	for _, o := range k.items {
		meta := o["metadata"].(map[string]any)
		if o["kind"] == "Node" && strings.Contains(" "+strings.Join(nodes, " ")+" ", fmt.Sprint(" ", meta["name"], " ")) {
			meta["labels"].(map[string]any)["nvidia.com/gpu.memory"] = mib
		}
	}
}

const half, fraction, gpuMemory = "0.5", "gpu-fraction", "gpu-memory"

// twoNodes are two queues that deserve 2 GPUs each, and two nodes of 2.
func twoNodes(k *ofKAI) {
	department(k, 0, kaiQueue{name: "a", gpu: 2, weight: 1}, kaiQueue{name: "b", gpu: 2, weight: 1})
	k.node("n1", 2)
	k.node("n2", 2)
}

// Clusters in which pods share GPUs, by the rules of KAI (NodeInfo, GpuSharingNodeInfo; d5bc503a).
var kaiParts = []kaiSituation{
	{"a part waits", func(k *ofKAI) {
		twoNodes(k)
		k.sharers(kaiJob{name: "notebook", queue: "a", age: 5}, fraction, half)
	}, map[string]string{"notebook": "fits"}},
	{"a whole GPU beside sharers of another", func(k *ofKAI) {
		twoNodes(k)
		k.job(kaiJob{name: "train", queue: "b", gpus: 2, node: "n2", age: 90})
		k.sharers(kaiJob{name: "notebooks", queue: "a", pods: 2, min: 2, node: "n1", age: 80}, fraction, half, "x", "x")
		k.reserve("n1", "x")
		k.job(kaiJob{name: "one", queue: "a", age: 5})
		k.job(kaiJob{name: "pair", queue: "a", gpus: 2, age: 4})
	}, map[string]string{"one": "fits", "pair": "no"}}, // n1 has one empty GPU
	{"sums have room, no GPU is empty", func(k *ofKAI) {
		twoNodes(k)
		k.job(kaiJob{name: "train", queue: "b", gpus: 2, node: "n2", age: 90})
		k.sharers(kaiJob{name: "notebooks", queue: "a", pods: 2, min: 2, node: "n1", age: 80}, fraction, half, "x", "y")
		k.job(kaiJob{name: "one", queue: "a", age: 5})
		k.sharers(kaiJob{name: "small", queue: "a", age: 4}, fraction, half)
		k.sharers(kaiJob{name: "large", queue: "a", age: 3}, fraction, "0.6")
	}, map[string]string{"one": "no", "small": "fits", "large": "no"}}, // two halves of two GPUs are free
	{"what is not preemptible, in its own queue", func(k *ofKAI) {
		twoNodes(k)
		k.job(kaiJob{name: "train", queue: "a", gpus: 2, node: "n2", age: 90})
		k.sharers(kaiJob{name: "x1", queue: "b", node: "n1", age: 80}, fraction, half, "x")
		k.sharers(kaiJob{name: "x2", queue: "b", node: "n1", age: 79}, fraction, half, "x")
		k.sharers(kaiJob{name: "y1", queue: "b", node: "n1", age: 78}, fraction, half, "y")
		k.sharers(kaiJob{name: "y2", queue: "b", node: "n1", age: 77}, fraction, half, "y")
		k.sharers(kaiJob{name: "fixed", queue: "a", class: "build", age: 5}, fraction, half)
	}, map[string]string{"fixed": "train"}}, // b is within its quota
	{"a part over its quota is reclaimed", func(k *ofKAI) {
		department(k, 2, kaiQueue{name: "a", gpu: 1, weight: 1}, kaiQueue{name: "b", gpu: 1, weight: 1})
		k.sharers(kaiJob{name: "b0", queue: "b", node: oneNode, age: 90}, fraction, half, "x")
		k.sharers(kaiJob{name: "b1", queue: "b", node: oneNode, age: 80}, fraction, half, "x")
		k.sharers(kaiJob{name: "b2", queue: "b", node: oneNode, age: 70}, fraction, half, "y")
		k.sharers(kaiJob{name: "b3", queue: "b", node: oneNode, age: 60}, fraction, half, "y")
		k.sharers(kaiJob{name: "part", queue: "a", age: 5}, fraction, half)
		k.job(kaiJob{name: "whole", queue: "a", age: 4})
	}, map[string]string{"part": "b3", "whole": "b2 b3"}}, // both of one GPU leave
	{"eighths", func(k *ofKAI) { // each counts 0.13 in its queue, and eight fit on one GPU
		department(k, 1, kaiQueue{name: "a", gpu: 1, weight: 1}, kaiQueue{name: "b", gpu: 1, weight: 1})
		k.sharers(kaiJob{name: "seven", queue: "a", pods: 7, min: 7, node: oneNode, age: 90}, fraction, "0.125", "x", "x", "x", "x", "x", "x", "x")
		k.sharers(kaiJob{name: "eighth", queue: "a", age: 5}, fraction, "0.125")
		k.sharers(kaiJob{name: "fixed", queue: "a", class: "build", age: 5}, fraction, "0.125")
		k.sharers(kaiJob{name: "two", queue: "b", pods: 2, min: 2, age: 4}, fraction, "0.125")
	}, map[string]string{"eighth": "fits", "fixed": "fits", "two": "no"}},
	{"a gang of parts", func(k *ofKAI) {
		twoNodes(k)
		k.job(kaiJob{name: "train", queue: "b", gpus: 2, node: "n2", age: 90})
		k.sharers(kaiJob{name: "four", queue: "a", pods: 4, min: 4, age: 5}, fraction, half)
		k.sharers(kaiJob{name: "three", queue: "a", pods: 3, min: 3, age: 5}, fraction, "0.6")
	}, map[string]string{"four": "fits", "three": "no"}}, // n1 has two GPUs, and 0.6 goes on one once
	{"memory", func(k *ofKAI) {
		twoNodes(k)
		k.memory("81559", "n1", "n2") // KAI takes 81500
		k.job(kaiJob{name: "train", queue: "b", gpus: 2, node: "n2", age: 90})
		k.sharers(kaiJob{name: "runs", queue: "a", pods: 2, min: 2, node: "n1", age: 80}, gpuMemory, "40000", "x", "y")
		k.sharers(kaiJob{name: "fits", queue: "a", age: 5}, gpuMemory, "41500")
		k.sharers(kaiJob{name: "over", queue: "a", age: 5}, gpuMemory, "41501")
	}, map[string]string{"fits": "fits", "over": "no"}},
	{"memory without labels", func(k *ofKAI) {
		twoNodes(k)
		k.memory("81559", "n1")
		k.sharers(kaiJob{name: "memory", queue: "a", age: 5}, gpuMemory, "20000")
	}, map[string]string{"memory": "unknown: Pod research-2f9c/" + newKAI().name("memory") + "-worker-0: Node n2 has no label nvidia.com/gpu.memory: how much memory a GPU has there is not known"}},
	{"memory of several kinds of GPUs", func(k *ofKAI) {
		twoNodes(k)
		k.memory("81559", "n1")
		k.memory("40960", "n2")
		k.sharers(kaiJob{name: "memory", queue: "a", age: 5}, gpuMemory, "20000")
	}, map[string]string{"memory": "unknown: Pod research-2f9c/" + newKAI().name("memory") + "-worker-0: GPUs have 40900 MiB on some nodes and 81500 on others: which part it takes is not known"}},
	{"older pods do not say which GPU they are on", func(k *ofKAI) {
		twoNodes(k)
		old := k.sharers(kaiJob{name: "old", queue: "a", node: "n1", age: 90}, fraction, half)
		k.job(kaiJob{name: "train", queue: "a", gpus: 2, age: 5})
		k.job(kaiJob{name: "fixed", queue: "a", gpus: 2, class: "build", age: 5})
		_ = old
	}, map[string]string{"train": "unknown: Pod research-2f9c/" + newKAI().name("old") + "-worker-0: it takes a part of a GPU and does not say of which: KAI takes its node for emptier than it is",
		"fixed": "unknown: Pod research-2f9c/" + newKAI().name("old") + "-worker-0: it takes a part of a GPU and does not say of which: KAI takes its node for emptier than it is"}},
	{"several GPUs for one pod", func(k *ofKAI) {
		twoNodes(k)
		pods := k.sharers(kaiJob{name: "wide", queue: "a", age: 5}, fraction, half)
		pods[0]["metadata"].(map[string]any)["annotations"].(map[string]any)["gpu-fraction-num-devices"] = "2"
	}, map[string]string{"wide": "unknown: Pod research-2f9c/" + newKAI().name("wide") + "-worker-0: metadata.annotations[gpu-fraction-num-devices] is not modelled: it takes parts of several GPUs"}},
	{"no part of a GPU", func(k *ofKAI) {
		twoNodes(k)
		k.sharers(kaiJob{name: "odd", queue: "a", age: 5}, fraction, "1.5")
	}, map[string]string{"odd": "unknown: Pod research-2f9c/" + newKAI().name("odd") + "-worker-0: \"1.5\" is no part of a GPU: want a number between 0 and 1"}},
	{"a quota with a part", func(k *ofKAI) {
		department(k, 4, kaiQueue{name: "a", gpu: 1.5, weight: 1})
		k.sharers(kaiJob{name: "runs", queue: "a", class: "build", node: oneNode, age: 90}, fraction, half, "x")
		k.job(kaiJob{name: "one", queue: "a", class: "build", age: 5})
		k.sharers(kaiJob{name: "two", queue: "a", pods: 2, min: 2, class: "build", age: 5}, fraction, "0.51")
	}, map[string]string{"one": "fits", "two": "no"}},
	{"a pod that is bound has its GPU", func(k *ofKAI) {
		department(k, 1, kaiQueue{name: "a", gpu: 1, weight: 1})
		pods := k.sharers(kaiJob{name: "bound", queue: "a", age: 9}, fraction, half)
		k.add("scheduling.run.ai/v1alpha2", "BindRequest", map[string]any{"name": "bind", "namespace": kaiNamespace}, map[string]any{"podName": pods[0]["metadata"].(map[string]any)["name"],
			"selectedNode": oneNode, "receivedResourceType": "Fraction", "selectedGPUGroups": []any{deviceID("x")}}, map[string]any{})
		k.sharers(kaiJob{name: "beside", queue: "a", age: 5}, fraction, half)
		k.job(kaiJob{name: "whole", queue: "a", age: 4})
	}, map[string]string{"beside": "fits", "whole": "no"}},
}

// A part of a GPU counts in its queue and has to fit on one GPU; answers are those of KAI's rules.
func TestPartsOfKAI(t *testing.T) {
	for _, s := range kaiParts {
		k := newKAI()
		s.build(k)
		text := k.text(t)
		for group, want := range s.want {
			if got := k.asked(t, text, group); got != want {
				t.Errorf("%s: %s: %q, want %q", s.name, group, got, want)
			}
		}
	}
}

// A part that is described, and what cannot be.
func TestDescribedPartsOfKAI(t *testing.T) {
	k := newKAI()
	department(k, 1, kaiQueue{name: "a", gpu: 1, weight: 1})
	k.sharers(kaiJob{name: "runs", queue: "a", pods: 1, node: oneNode, age: 90}, fraction, "0.25", "x")
	for request, want := range map[string]struct {
		status int
		says   string
	}{
		"GPU=0.75":           {0, "new fits"},
		"gpu=1":              {1, "new does not fit"}, // the GPU is shared
		"GPU=0.76":           {1, "new does not fit"},
		"GPU=1.5":            {2, "1.5 GPUs: want a part of one, or whole ones"},
		"nvidia.com/gpu=0.5": {2, "nvidia.com/gpu=0.5: want a whole number (of KAI, GPU takes parts)"},
	} {
		status, stdout, stderr := call(strings.NewReader(k.text(t)), "-f", "-", "-at", ago(0), "-queue", "a", "-request", request)
		if status != want.status || !strings.Contains(stdout+stderr, want.says) {
			t.Errorf("%s: status %d, %q, %q", request, status, stdout, stderr)
		}
	}
}

// Sessions start parts beside others, and empty a GPU for who takes a whole one. KAI's own search finds the same.
func TestNextWithPartsOfKAI(t *testing.T) {
	k := newKAI()
	department(k, 2, kaiQueue{name: "a", gpu: 1, weight: 1}, kaiQueue{name: "b", gpu: 1, weight: 1})
	for i, device := range []string{"x", "x", "y", "y"} {
		k.sharers(kaiJob{name: fmt.Sprint("b", i), queue: "b", node: oneNode, age: 90 - i}, fraction, half, device)
	}
	k.job(kaiJob{name: "whole", queue: "a", age: 5})
	text := k.text(t)
	for _, search := range [][]string{nil, {"-search", "kai"}} {
		status, stdout, stderr := call(strings.NewReader(text), append([]string{"next", "-f", "-", "-at", ago(0), "-o", "wide"}, search...)...)
		for _, want := range []string{"reclaims from 2: ", k.name("b2"), k.name("b3"), "1 pod started"} {
			if status != 0 || !strings.Contains(stdout, want) {
				t.Errorf("%q: status %d, no %q in %q, %q", search, status, want, stdout, stderr)
			}
		}
	}
}
