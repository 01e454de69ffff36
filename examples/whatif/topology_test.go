package main

import (
	"fmt"
	"strings"
	"testing"
)

// racked is two racks of two hosts of 4 GPUs, and a queue with quota for all of them.
type racked struct {
	nominal       int
	queue, levels string // more of the ClusterQueue's spec; the levels of the topology
	nodes         string // the hosts that are given
	notReady      string
	runs          []string // "name priority pods host[,host] (a pod on each)"; no host: it was not placed
	pods          string   // of other workloads, in YAML
	ask           string   // the topologyRequest
	count, gpus   int
	spec          string // more of the pods' spec
	more          string
	counted       bool // pods are a resource of the queue
}

func (r racked) yaml() string {
	var b strings.Builder
	levels := r.levels
	if levels == "" {
		levels = "{nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname}"
	}
	covered, quota, flavor := "gpu", "", ""
	if r.counted {
		covered, quota, flavor = "gpu, pods", ", {name: pods, nominalQuota: 100}", ", pods: f"
	}
	fmt.Fprintf(&b, `
apiVersion: v1
kind: List
items:
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology, metadata: {name: tree}, spec: {levels: [%s]}}
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}, spec: {nodeLabels: {pool: gpu}, topologyName: tree}}
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: q}, spec: {namespaceSelector: {}%s,
    preemption: {withinClusterQueue: LowerPriority}, resourceGroups: [{coveredResources: [%s], flavors: [{name: f, resources: [{name: gpu, nominalQuota: %d}%s]}]}]}}
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq, namespace: team}, spec: {clusterQueue: q}}
`, levels, r.queue, covered, r.nominal, quota)
	for _, host := range strings.Fields(r.nodes) {
		ready := "True"
		if strings.Contains(r.notReady, host) {
			ready = "False"
		}
		taint := ""
		if host == "h4" {
			taint = "taints: [{key: special, effect: NoSchedule}]"
		}
		fmt.Fprintf(&b, "- {apiVersion: v1, kind: Node, metadata: {name: %s, labels: {pool: gpu, rack: r%d, kubernetes.io/hostname: %s}}, spec: {%s}, status: {allocatable: {gpu: 4, pods: 10}, conditions: [{type: Ready, status: %q}]}}\n",
			host, (host[1]-'0')/2, host, taint, ready)
	}
	for _, run := range r.runs {
		f := append(strings.Fields(run), "")
		place := ""
		if f[3] != "" {
			for _, host := range strings.Split(f[3], ",") {
				place += fmt.Sprintf(", {values: [%s], count: 1}", host)
			}
			place = fmt.Sprintf(", topologyAssignment: {levels: [kubernetes.io/hostname], domains: [%s]}", place[2:])
		}
		fmt.Fprintf(&b, "- {apiVersion: kueue.x-k8s.io/v1beta1, kind: Workload, metadata: {name: %s, namespace: team}, spec: {queueName: lq, priority: %s, podSets: [{name: main, count: %s, topologyRequest: {required: rack}}]}, "+
			"status: {conditions: [{type: QuotaReserved, status: \"True\", lastTransitionTime: 2026-11-20T11:00:00Z}], admission: {clusterQueue: q, podSetAssignments: [{name: main, count: %s, flavors: {gpu: f%s}, resourceUsage: {gpu: %d%s}%s}]}}}\n",
			f[0], f[1], f[2], f[2], flavor, 4*int(f[2][0]-'0'), strings.Replace(flavor, "f", f[2], 1), place)
	}
	b.WriteString(r.pods)
	if r.ask != "" {
		fmt.Fprintf(&b, "- {apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: new, namespace: team, creationTimestamp: 2026-11-20T11:00:00Z}, spec: {queueName: lq, priority: 5, "+
			"podSets: [{name: main, count: %d, topologyRequest: %s, template: {spec: {%scontainers: [{resources: {requests: {gpu: %d}}}]}}}%s]}}\n", r.count, r.ask, r.spec, r.gpus, r.more)
	}
	return b.String()
}

// busy is a pod that Kueue did not place.
func busy(host string, gpus int, labels string) string {
	return marked(host, gpus, "labels: {"+labels+"}")
}

// marked is a pod on a node, with labels and annotations.
func marked(host string, gpus int, metadata string) string {
	return fmt.Sprintf("- {apiVersion: v1, kind: Pod, metadata: {name: on-%s, namespace: system, %s}, spec: {nodeName: %s, priority: 0, containers: [{name: c, resources: {requests: {gpu: %d}}}]}, status: {phase: Running}}\n", host, metadata, host, gpus)
}

// A workload that is placed by a topology fits where quota and nodes have room, and its victims make both.
// Where it is not certain that Kueue places it so, the answer is unknown.
func TestTopologyRoom(t *testing.T) {
	const rack, unknown = "{required: rack}", "Whether team/new fits is unknown: "
	daemon := busy("h0", 0, "")
	all := "h0 h1 h2 h3"
	for _, c := range []struct {
		name   string
		r      racked
		status int
		begins string
		has    string // victims, or why it is unknown
	}{
		{"room in a rack", racked{nominal: 16, nodes: all, runs: []string{"a 0 1 h0"}, pods: daemon, ask: rack, count: 2, gpus: 4}, 0, "team/new fits now", ""},
		{"several pods on a node", racked{nominal: 16, nodes: all, runs: []string{"a 0 3 h0,h1,h2"}, pods: daemon, ask: rack, count: 4, gpus: 1}, 0, "team/new fits now", ""},
		{"nodes decide who yields", racked{nominal: 16, nodes: all, runs: []string{"lowest 0 1 h0", "high 9 1 h1", "low 1 1 h2"}, pods: daemon, ask: rack, count: 2, gpus: 4}, 0, "team/new fits once team/low", "low "},
		{"quota has room, and nodes have not", racked{nominal: 32, nodes: all, runs: []string{"lowest 0 1 h0", "high 9 1 h1", "low 1 1 h2"}, pods: daemon, ask: rack, count: 2, gpus: 4}, 0, "team/new fits once team/low", "low "},
		{"no rack has room", racked{nominal: 16, nodes: all, runs: []string{"a 9 1 h0", "b 9 1 h2"}, pods: daemon, ask: rack, count: 2, gpus: 4}, 1, "team/new does not fit", ""},
		{"no rack is large enough", racked{nominal: 16, nodes: all, pods: daemon, ask: rack, count: 3, gpus: 4}, 1, "team/new does not fit", ""},
		{"pods are not split over nodes", racked{nominal: 16, nodes: all, pods: busy("h0", 2, "") + busy("h1", 2, "") + busy("h2", 2, "") + busy("h3", 2, ""), ask: rack, count: 2, gpus: 3}, 1, "team/new does not fit", ""},
		{"preferred: over several racks", racked{nominal: 16, nodes: all, runs: []string{"a 9 1 h0", "b 9 1 h2"}, pods: daemon, ask: "{preferred: rack}", count: 2, gpus: 4}, 0, "team/new fits now", ""},
		{"anywhere", racked{nominal: 16, nodes: all, runs: []string{"a 9 1 h0"}, pods: daemon, ask: "{unconstrained: true}", count: 3, gpus: 4}, 0, "team/new fits now", ""},
		{"nothing is asked for, and every flavor has a topology", racked{nominal: 16, nodes: all, runs: []string{"a 9 1 h0"}, pods: daemon, ask: "null", count: 4, gpus: 4}, 1, "team/new does not fit", ""},
		{"other pods take room, and do not yield", racked{nominal: 16, nodes: "h0 h1", pods: busy("h0", 1, ""), ask: rack, count: 2, gpus: 4}, 1, "team/new does not fit", ""},
		{"pods of placed workloads count once", racked{nominal: 16, nodes: "h0 h1", runs: []string{"a 9 1 h0"}, pods: busy("h0", 4, "kueue.x-k8s.io/tas: 'true', kueue.x-k8s.io/podset: main"), ask: "{required: kubernetes.io/hostname}", count: 1, gpus: 4}, 0, "team/new fits now", ""},
		{"a mark of newer versions", racked{nominal: 16, nodes: "h0 h1", runs: []string{"a 9 1 h0"}, pods: marked("h0", 4, "labels: {kueue.x-k8s.io/podset: main}, annotations: {kueue.x-k8s.io/workload: gone, kueue.x-k8s.io/podset-unconstrained-topology: 'true'}"), ask: "{required: kubernetes.io/hostname}", count: 1, gpus: 4}, 0, "team/new fits now", ""},
		{"no mark, and no place by a topology", racked{nominal: 16, nodes: "h0 h1", pods: marked("h0", 4, "labels: {kueue.x-k8s.io/podset: main}, annotations: {kueue.x-k8s.io/workload: plain}"), ask: rack, count: 2, gpus: 4}, 1, "team/new does not fit", ""},
		{"pods count in the quota", racked{nominal: 16, nodes: "h0 h1", runs: []string{"a 9 1 h0"}, pods: daemon, counted: true, ask: "{required: kubernetes.io/hostname}", count: 1, gpus: 4}, 0, "team/new fits now", ""},
		{"a node is not ready", racked{nominal: 16, nodes: "h0 h1", notReady: "h1", pods: daemon, ask: rack, count: 2, gpus: 4}, 1, "team/new does not fit", ""},
		{"a taint", racked{nominal: 16, nodes: "h4", pods: busy("h4", 0, ""), ask: rack, count: 1, gpus: 4}, 1, "team/new does not fit", ""},
		{"a taint that is tolerated", racked{nominal: 16, nodes: "h4", pods: busy("h4", 0, ""), ask: rack, count: 1, gpus: 4, spec: "tolerations: [{key: special, operator: Exists}], "}, 0, "team/new fits now", ""},
		{"a node selector", racked{nominal: 16, nodes: all, pods: daemon, ask: rack, count: 1, gpus: 4, spec: "nodeSelector: {rack: r7}, "}, 1, "team/new does not fit", ""},
		{"quota refuses", racked{nominal: 4, nodes: all, pods: daemon, ask: rack, count: 2, gpus: 4}, 1, "team/new does not fit", ""},
		{"quota refuses, without nodes", racked{nominal: 4, ask: rack, count: 2, gpus: 4}, 1, "team/new does not fit", ""},

		{"no nodes", racked{nominal: 16, ask: rack, count: 2, gpus: 4}, 3, unknown, "no Node is in the input"},
		{"no pods", racked{nominal: 16, nodes: all, ask: rack, count: 2, gpus: 4}, 3, unknown, "no Pod is in the input"},
		{"no pods, and no room even so", racked{nominal: 16, nodes: all, ask: rack, count: 3, gpus: 4}, 1, "team/new does not fit", ""},
		{"a workload without assignment", racked{nominal: 16, nodes: all, runs: []string{"a 0 1"}, pods: daemon, ask: rack, count: 2, gpus: 4}, 3, unknown, "Workload team/a runs in flavor f without a topologyAssignment"},
		{"a node of an assignment is not there", racked{nominal: 16, nodes: "h0 h1", runs: []string{"a 0 1 h7"}, pods: daemon, ask: rack, count: 2, gpus: 4}, 3, unknown, "node h7, on which Workload team/a runs, is not in the input"},
		{"a node of a pod is not there", racked{nominal: 16, nodes: "h0 h1", pods: busy("h7", 1, ""), ask: rack, count: 2, gpus: 4}, 3, unknown, `node "h7", on which Pod system/on-h7 runs, is not in the input`},
		{"a pod that cannot be read", racked{nominal: 16, nodes: all, pods: strings.Replace(daemon, "gpu: 0", "gpu: lots", 1), ask: rack, count: 2, gpus: 4}, 3, unknown, "Pod system/on-h0 cannot be read"},
		{"a node that cannot be read", racked{nominal: 16, nodes: all, pods: daemon + "- {apiVersion: v1, kind: Node, metadata: {name: h3, labels: {pool: gpu, rack: r1, kubernetes.io/hostname: h3}}, status: {allocatable: {gpu: many}}}\n", ask: rack, count: 2, gpus: 4}, 3, unknown, "Node h3 cannot be read"},
		{"a pod of a pod set that may be placed", racked{nominal: 16, nodes: all, pods: busy("h0", 4, "kueue.x-k8s.io/podset: main"), ask: rack, count: 2, gpus: 4}, 3, unknown, "whether Pod system/on-h0 is placed by the topology is not known"},
		{"slices", racked{nominal: 16, nodes: all, pods: daemon, ask: "{required: rack, podSetSliceRequiredTopology: kubernetes.io/hostname, podSetSliceSize: 1}", count: 2, gpus: 4}, 3, unknown, "the slices of pod set main are not looked at"},
		{"a group of pod sets", racked{nominal: 16, nodes: all, pods: daemon, ask: "{required: rack, podSetGroupName: g}", count: 2, gpus: 4}, 3, unknown, "shares its place with other pod sets"},
		{"several pod sets", racked{nominal: 16, nodes: all, pods: daemon, ask: rack, count: 1, gpus: 4, more: ", {name: second, count: 1, topologyRequest: {required: rack}, template: {spec: {containers: [{resources: {requests: {gpu: 1}}}]}}}"}, 3, unknown, "it has 2 pod sets"},
		{"a level above the hosts is the lowest", racked{nominal: 16, nodes: all, levels: "{nodeLabel: rack}", pods: daemon, ask: rack, count: 2, gpus: 4}, 3, unknown, "the lowest level of topology tree is rack"},
		{"admission checks", racked{nominal: 16, nodes: all, queue: ", admissionChecks: [prov]", pods: daemon, ask: rack, count: 2, gpus: 4}, 3, unknown, "with admission checks Kueue may place it later"},
		{"more runs than there is", racked{nominal: 16, nodes: all, runs: []string{"a 0 2 h0,h0"}, pods: daemon, ask: rack, count: 2, gpus: 4}, 3, unknown, "pods on Node h0 take more gpu than it has"},
		{"fields of nodes", racked{nominal: 16, nodes: all, pods: daemon, ask: rack, count: 1, gpus: 4,
			spec: "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [h0]}]}]}}}, "}, 3, unknown, "asks for nodes by their fields"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := c.r.yaml()
			for _, verb := range []string{"ask", "explain"} {
				status, stdout, stderr := call(strings.NewReader(cluster), verb, "-workload", "team/new", "-at", now)
				if text := strings.Join(strings.Fields(stdout), " "); status != c.status || !strings.HasPrefix(stdout, c.begins) || !strings.Contains(text+" ", c.has) || stderr != "" {
					t.Errorf("%s: status %d, want %d, %q and %q:\n%s%s", verb, status, c.status, c.begins, c.has, stdout, stderr)
				}
			}
			if c.name == "no rack has room" {
				_, stdout, _ := call(strings.NewReader(cluster), "-workload", "team/new", "-at", now)
				_, rows, _ := call(strings.NewReader(cluster), "overview", "-at", now)
				const why = "team/new does not fit until something changes: there is quota, but no room on nodes.\n"
				if !strings.Contains(stdout, why) || !strings.Contains(rows, "no: no room on nodes") {
					t.Errorf("%s%s", stdout, rows)
				}
			}
			if status, stdout, stderr := call(strings.NewReader(cluster), "overview", "-at", now); status != c.status {
				t.Errorf("overview: status %d, want %d:\n%s%s", status, c.status, stdout, stderr)
			}
			want := map[int]string{0: "Not tried: team/new, which needs room on nodes", 3: "Unknown: team/new."}[c.status]
			if status, stdout, stderr := call(strings.NewReader(cluster), "next", "-at", now); status == 0 || !strings.Contains(strings.Join(strings.Fields(stdout), " "), want) {
				t.Errorf("next: status %d, want %q:\n%s%s", status, want, stdout, stderr)
			}
		})
	}
}

// A described workload is placed by a topology where every flavor of its queue has one.
func TestTopologyRoomOfDescribedWorkload(t *testing.T) {
	for _, c := range []struct {
		nodes  string
		count  string
		status int
		begins string
	}{
		{"h0 h1 h2 h3", "4", 0, "new fits now"}, {"h0 h1 h2", "4", 1, "new does not fit"}, {"", "4", 3, "Whether new fits is unknown: "}, {"", "5", 1, "new does not fit"},
	} {
		r := racked{nominal: 16, nodes: c.nodes, pods: "- {apiVersion: v1, kind: Namespace, metadata: {name: team}}\n"}
		if c.nodes != "" {
			r.pods += busy("h0", 0, "")
		}
		status, stdout, stderr := call(strings.NewReader(r.yaml()), "-request", "gpu=4", "-count", c.count, "-queue", "team/lq", "-at", now)
		if status != c.status || !strings.HasPrefix(stdout, c.begins) {
			t.Errorf("%+v: status %d\n%s%s", c, status, stdout, stderr)
		}
	}
}

// On nodes a request may need the place of what quota alone takes from nobody, and a pod that Kueue placed may start again anywhere only if
// Kueue finds it a place.
func TestPlacedByTopology(t *testing.T) {
	pod := strings.Replace(marked("h0", 4, "ownerReferences: [{apiVersion: batch/v1, kind: Job, name: a, uid: u, controller: true}], "+
		"labels: {kueue.x-k8s.io/podset: main}, annotations: {kueue.x-k8s.io/workload: a, kueue.x-k8s.io/podset-required-topology: rack}"), "priority: 0", "priority: 9", 1)
	cluster := racked{nominal: 16, nodes: "h0 h1 h2", runs: []string{"a 9 1 h0"}, pods: pod}.yaml()
	for _, c := range []struct {
		args   []string
		status int
		has    string
	}{
		{[]string{"safe", "team/a"}, 1, "team/a is not safe: a request of q with priority 10 for 13 gpu of f makes it yield now (InClusterQueue). That is by quota alone: a request that needs its room on nodes may ask for less"},
		{[]string{"drain", "h0"}, 3, "Whether h0 can be drained is unknown: Kueue places 1 pod of system/a by a topology, and whether it finds another place in its domain"},
		{[]string{"drain", "h1"}, 0, "h1 is safe to drain: no pod has to leave"},
	} {
		status, stdout, stderr := call(strings.NewReader(cluster), append(c.args, "-at", now)...)
		if status != c.status || !strings.Contains(strings.Join(strings.Fields(stdout), " "), c.has) {
			t.Errorf("%v: status %d, want %d\n%s%s\nwant %q", c.args, status, c.status, stdout, stderr, c.has)
		}
	}
}
