package main

import (
	"strings"
	"testing"
)

const (
	drainNodes = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"4","pods":"10"},"conditions":[{"type":"Ready","status":"True"}]}}
{"apiVersion":"v1","kind":"Node","metadata":{"name":"n2"},"status":{"allocatable":{"cpu":"4","pods":"10"},"conditions":[{"type":"Ready","status":"True"}]}}
`
	// onN1 is a pod of a job on node n1; at the %s its CPUs and its owner's kind.
	onN1 = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"a","labels":{"app":"web"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"OWNER","name":"x","uid":"u","controller":true}]},
"spec":{"nodeName":"n1","containers":[{"name":"c","resources":{"requests":{"cpu":"CPUS"}}}]},"status":{"phase":"Running"}}
`
	workloadOfKueue = `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w","namespace":"a"},"spec":{}}
`
	fullN2 = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"full","namespace":"a"},"spec":{"nodeName":"n2","priority":9,"containers":[{"name":"c","resources":{"requests":{"cpu":"4"}}}]},"status":{"phase":"Running"}}
`
)

// A node is safe to drain if what runs there has room elsewhere; else the answer names who has not.
func TestDrain(t *testing.T) {
	pod := func(cpus, owner string) string {
		return strings.NewReplacer("CPUS", cpus, "OWNER", owner).Replace(onN1)
	}
	for name, c := range map[string]struct {
		objects string
		nodes   string
		status  int
		begins  string
	}{
		"empty":            {drainNodes, "n1", 0, "n1 is safe to drain: no pod has to leave."},
		"room":             {drainNodes + pod("2", "ReplicaSet"), "n1", 0, "n1 is safe to drain: what runs there has room elsewhere."},
		"a daemon set":     {drainNodes + pod("2", "DaemonSet") + fullN2, "n1", 0, "n1 is safe to drain: no pod has to leave."},
		"no room":          {drainNodes + pod("2", "ReplicaSet") + fullN2, "n1", 1, "n1 is not safe to drain: 1 has no room elsewhere, a/web."},
		"no controller":    {drainNodes + strings.Replace(pod("2", "Job"), `"controller":true`, `"controller":false`, 1), "n1", 1, "n1 is not safe to drain: 1 has no controller that starts it again, a/web."},
		"a volume":         {drainNodes + strings.Replace(pod("2", "Job"), `"nodeName":"n1"`, `"nodeName":"n1","volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"v"}}]`, 1), "n1", 1, "n1 is not safe to drain: 1 has a persistent volume, which may be of its node, a/web."},
		"a selector":       {strings.Replace(drainNodes, `"name":"n1"`, `"name":"n1","labels":{"a":"b"}`, 1) + strings.Replace(pod("2", "Job"), `"nodeName":"n1"`, `"nodeName":"n1","nodeSelector":{"a":"b"}`, 1), "n1", 1, "n1 is not safe to drain: 1 may run on no other node, a/web."},
		"a budget":         {drainNodes + pod("2", "Job") + `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"keep","namespace":"a"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"web"}}},"status":{"currentHealthy":1,"desiredHealthy":1,"disruptionsAllowed":0,"expectedPods":1}}`, "n1", 1, "n1 cannot be drained: a/web stays, because disruption budget a/keep allows no eviction now."},
		"besides a budget": {drainNodes + pod("2", "Job") + strings.NewReplacer(`"controller":true`, `"controller":false`, `"name":"web"`, `"name":"bare"`, `"app":"web"`, `"app":"bare"`).Replace(pod("1", "Job")) + `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"keep","namespace":"a"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"web"}}},"status":{"currentHealthy":1,"desiredHealthy":1,"disruptionsAllowed":0,"expectedPods":1}}`, "n1", 1, "n1 cannot be drained: a/web stays, because disruption budget a/keep allows no eviction now; besides, 1 has no controller that starts it again, a/bare."},
		"as kubectl says":  {drainNodes, "node/n1", 0, "n1 is safe to drain: no pod has to leave."},
		"both":             {drainNodes + pod("2", "ReplicaSet"), "n1 n2", 1, "n1, n2 are not safe to drain: 1 has no room elsewhere, a/web."},
		"by its host name": {strings.ReplaceAll(drainNodes, `"name":"n1"`, `"name":"n1.example.org"`), "n1", 0, "n1.example.org is safe to drain: no pod has to leave."},
		"queues besides":   {drainNodes + pod("2", "ReplicaSet") + workloadOfKueue, "n1", 0, "n1 is safe to drain: what runs there has room elsewhere."},
		"no pods":          {drainNodes + workloadOfKueue, "n1", 3, "Whether n1 can be drained is unknown: there are no pods in the input"},
		"cannot be read": {strings.Replace(drainNodes, `"cpu":"4"`, `"cpu":"many"`, 1) + pod("2", "ReplicaSet"), "n1", 3,
			"Whether n1 can be drained is unknown: "},
	} {
		status, stdout, stderr := call(strings.NewReader(c.objects), append([]string{"drain"}, strings.Fields(c.nodes)...)...)
		if name == "cannot be read" && status == 2 && strings.Contains(stderr, `node "n1" is not in the input`) {
			continue // it is left out, and the error says so
		}
		if status != c.status || !strings.HasPrefix(stdout, c.begins) || stderr != "" {
			t.Errorf("%s: status %d, want %d and %q, %q:\n%s", name, status, c.status, c.begins, stderr, stdout)
		}
		if strings.Contains(stdout, "is not read here") {
			t.Errorf("%s: %s", name, stdout)
		}
	}
	twice := strings.ReplaceAll(strings.ReplaceAll(drainNodes, `"name":"n1"`, `"name":"n.a"`), `"name":"n2"`, `"name":"n.b"`)
	if status, _, stderr := call(strings.NewReader(twice), "drain", "n"); status != 2 || !strings.Contains(stderr, `node "n" is not in the input`) {
		t.Errorf("a host name of two: status %d, %q", status, stderr)
	}
	for want, args := range map[string][]string{
		"drain: name the nodes that are to be drained; the input has n1, n2": {"drain"}, `node "n3" is not in the input; the nearest: n1, n2`: {"drain", "n3"},
	} {
		if status, _, stderr := call(strings.NewReader(drainNodes), args...); status != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%q: status %d, %q, want %q", args, status, stderr, want)
		}
	}
}

// Of a cluster the nodes are read by its API; without a right the answer is unknown, and names it.
func TestDrainLive(t *testing.T) {
	objects := drainNodes + strings.NewReplacer("CPUS", "2", "OWNER", "ReplicaSet").Replace(onN1)
	fakeCluster(t, objects)
	if status, stdout, stderr := call(nil, "drain", "-live", "n1"); status != 0 || !strings.HasPrefix(stdout, "n1 is safe to drain") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	fakeCluster(t, objects, "poddisruptionbudgets*")
	const want = "Whether n1 can be drained is unknown: the right to list poddisruptionbudgets.policy is missing"
	if status, stdout, stderr := call(nil, "drain", "-live", "n1"); status != 3 || !strings.HasPrefix(stdout, want) {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}
