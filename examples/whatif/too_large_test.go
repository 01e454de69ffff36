package main

import (
	"strings"
	"testing"
)

// onNodes has two nodes and a workload; the words in its text are replaced as pairs say.
func onNodes(pairs ...string) string {
	text := onHardware(100, []int{4, 8}, 9, 2)
	for i := 0; i < len(pairs); i += 2 {
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// A workload whose pods no node takes is no plain yes, whichever verb is asked; where a node may come, or is not known, it is one.
func TestPodsThatNoNodeTakes(t *testing.T) {
	const (
		spec    = `"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"9"}}}]`
		eight   = `{"cpu":"8","pods"`
		forbids = "unknown: no node of f that there is now takes a pod of main: its node selector, its node affinity or a taint forbids it"
		large   = "unknown: a pod of main asks for 9 cpu, and no node of f that there is now has more than 8"
		fits    = "fits now"
		flavor  = `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"f"}`
	)
	fitting := []string{eight, `{"cpu":"9","pods"`}
	with := func(pairs ...string) string { return onNodes(append(pairs, fitting...)...) }
	for name, c := range map[string]struct{ input, want string }{
		"too many cores":            {onNodes(), large},
		"as many":                   {with(), fits},
		"no nodes":                  {onHardware(100, nil, 9, 2), fits},
		"no node of the flavor":     {onNodes(`"labels":{"kind":"large"}`, `"labels":{"kind":"small"}`), fits},
		"a flavor of all nodes":     {onNodes(`"nodeLabels":{"kind":"large"}`, `"nodeLabels":{}`), large},
		"only nodes of another one": {onNodes(flavor, flavor[:len(flavor)-1]+`"g"},"spec":{"nodeLabels":{"kind":"large"}}}`+"\n"+flavor, `"name":"f""g"`, `"name":"g"`, `{"name":"f"},"spec":{"nodeLabels":{"kind":"large"}}`, `{"name":"f"},"spec":{}`), fits},
		"a node in doubt":           {onNodes(`"cpu":"4","pods"`, `"cpu":"many","pods"`), fits},
		"overhead":                  {with(spec, spec+`,"overhead":{"cpu":"1"}`), strings.ReplaceAll(strings.ReplaceAll(large, "9", "10"), "8", "9")},
		"a node selector":           {with(spec, spec+`,"nodeSelector":{"disk":"fast"}`), forbids},
		"one that a node has":       {with(spec, spec+`,"nodeSelector":{"disk":"fast"}`, `"labels":{"kind":"large"}}`, `"labels":{"kind":"large","disk":"fast"}}`), fits},
		"a node affinity":           {with(spec, spec+`,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"disk","operator":"Exists"}]}]}}}`), forbids},
		"taints":                    {with(`}},"status":{"allocatable"`, `}},"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]},"status":{"allocatable"`), forbids},
		"tolerated taints":          {with(spec, spec+`,"tolerations":[{"key":"a","operator":"Exists"}]`, `}},"status":{"allocatable"`, `}},"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]},"status":{"allocatable"`), fits},
		"tolerated by the flavor":   {with(`"nodeLabels":{"kind":"large"}`, `"nodeLabels":{"kind":"large"},"tolerations":[{"key":"a","operator":"Exists"}]`, `}},"status":{"allocatable"`, `}},"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]},"status":{"allocatable"`), fits},
		"the taint of a resource":   {with(`}},"status":{"allocatable"`, `}},"spec":{"taints":[{"key":"cpu","effect":"NoSchedule"}]},"status":{"allocatable"`), fits},
		"cordoned":                  {with(`}},"status":{"allocatable"`, `}},"spec":{"unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]},"status":{"allocatable"`), fits},
		"the second pod set":        {onNodes(`"cpu":"9"`, `"cpu":"2"`, `"podSets":[`, `"podSets":[{"name":"driver","count":1,"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"11"}}}]}}},`), strings.NewReplacer("main", "driver", "9 cpu", "11 cpu").Replace(large)},
		"fewer replicas":            {onNodes(`"count":2`, `"count":2,"minCount":1`), large},
		"what no node counts":       {onNodes(`"cpu":"9"`, `"cpu":"2","x.io/licence":"5"`, `{"name":"cpu","nominalQuota":100}`, `{"name":"cpu","nominalQuota":100},{"name":"x.io/licence","nominalQuota":50}`, `"coveredResources":["cpu"]`, `"coveredResources":["cpu","x.io/licence"]`), fits},
		"a manager of MultiKueue":   {onNodes() + `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{"name":"mk"},"spec":{"controllerName":"kueue.x-k8s.io/multikueue","parameters":{"kind":"MultiKueueConfig","name":"all"}},"status":{"conditions":[{"type":"Active","status":"True"}]}}`, fits},
	} {
		_, out, said := call(strings.NewReader(c.input), "overview")
		_, row, _ := strings.Cut(out, "a/w0")
		row, _, _ = strings.Cut(row, "\n")
		if !strings.HasSuffix(row, "  "+c.want) {
			t.Errorf("%s: want %q:\n%s%s", name, c.want, out, said)
		}
	}
}

// Every verb says the same of it, no change is advised that does not help, and a user who knows that nodes come can say so.
func TestVerbsOnPodsThatNoNodeTakes(t *testing.T) {
	const why = "a pod of main asks for 9 cpu, and no node of f that there is now has more than 8"
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"ask a/w0", 3, "Whether a/w0 fits is unknown: " + why + "."},
		{"why a/w0", 3, "By quota alone it fits now, and its pods would wait for such a node."},
		{"ask -request cpu=9 -queue cq", 3, why},
		{"ask a/w0 -assume nodes", 0, "Note: assumed to make no difference: " + why},
		{"overview", 3, "1 fits now, 1 is unknown"},
		{"next", 3, "a/w0"},
		{"lint -rule too-large", 1, "1 workload has pods that no node of a flavor of the queue takes now: a/w0."},
		{"diff -quota cq:f:cpu=4", 1, "unknown: " + why + " -> no:"},
	} {
		status, out, said := call(strings.NewReader(onNodes()), strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(out, c.want) || said != "" {
			t.Errorf("%s: status %d, want %d with %q:\n%s%s", c.args, status, c.status, c.want, out, said)
		}
	}
	status, out, _ := call(strings.NewReader(onNodes(`"nominalQuota":100`, `"nominalQuota":1`)), "why", "a/w0")
	if status != 1 || !strings.Contains(out, changeSection+"\n  Nothing that was tried.\n") || !strings.Contains(out, "Note: "+why) {
		t.Errorf("status %d:\n%s", status, out)
	}
}
