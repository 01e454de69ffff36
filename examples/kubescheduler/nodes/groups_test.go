package main

import (
	"strings"
	"testing"
)

// gangOf is a node with a gang of two that is not split, and one who asks for half of it.
const gangOf = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"capacity":{"cpu":"4"}}}
GROUP
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"g-0","namespace":"x"},"spec":{"nodeName":"n","REF":{"podGroupName":"g"},"containers":[{"resources":{"requests":{"cpu":"2"}}}]}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"g-1","namespace":"x"},"spec":{"nodeName":"n","REF":{"podGroupName":"g"},"containers":[{"resources":{"requests":{"cpu":"2"}}}]}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"new","namespace":"y"},"spec":{"priority":5,"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}`

// Pods of a group that is missing, or cannot be read, are not split: it is not known whether they may be.
func TestGroupThatIsNotThere(t *testing.T) {
	group := func(head, spec string) string {
		return `{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"g","namespace":"x"` + head +
			`},"spec":{"schedulingPolicy":{"gang":{"minCount":2}},"disruptionMode":"PodGroup"` + spec + `}}`
	}
	const kept, unknown = "Note: PodGroup x/g: is not in the input, and pods of it run: it is never preempted here.", "has room is unknown: PodGroup x/g cannot be read: "
	for name, c := range map[string]struct {
		group  string
		status int
		wants  []string
	}{
		"there":       {group("", ""), 0, []string{"group x/g 0 2 n"}},
		"missing":     {"", 3, []string{"has room is unknown: PodGroup x/g is not in the input", "It has no place", kept}},
		"priority":    {group("", `,"priority":1.5`), 3, []string{unknown, "It has no place", "Note: PodGroup x/g: spec.priority: want an integer"}},
		"count":       {group("", `,"schedulingPolicy":{"gang":{"minCount":"two"}}`), 3, []string{unknown, "It has no place", "minCount"}},
		"timestamp":   {group(`,"creationTimestamp":"yesterday"`, ""), 3, []string{unknown, "It has no place", `"yesterday" is not a time: left out`}},
		"constraints": {group("", `,"schedulingConstraints":5`), 3, []string{unknown, "It has no place", "schedulingConstraints: want an object"}},
	} {
		cluster := strings.ReplaceAll(strings.Replace(gangOf, "GROUP", c.group, 1), "REF", "schedulingGroup")
		status, stdout, stderr := call(strings.NewReader(cluster))
		for _, want := range c.wants {
			if status != c.status || stderr != "" || !strings.Contains(strings.Join(strings.Fields(stdout), " "), want) {
				t.Errorf("%s: status %d, %q, %q, want %d, %q", name, status, stdout, stderr, c.status, want)
			}
		}
	}
	// Pods that have ended, or whose node is not there, need no group; the node is in doubt.
	cluster := strings.ReplaceAll(strings.Replace(gangOf, "GROUP", "", 1), "REF", "schedulingGroup")
	cluster = strings.Replace(strings.Replace(cluster, `"nodeName":"n"`, `"nodeName":"gone"`, 1), `"cpu":"2"}}}]}}`+"\n"+`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"new"`,
		`"cpu":"2"}}}]},"status":{"phase":"Succeeded"}}`+"\n"+`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"new"`, 1)
	if status, stdout, _ := call(strings.NewReader(cluster)); status != 3 || strings.Contains(stdout, "PodGroup") || !strings.HasPrefix(stdout, `Whether pod y/new has room is unknown: node "gone", on which`) {
		t.Errorf("status %d, %q", status, stdout)
	}
}

// The reference of Kubernetes 1.35 is not followed, and that is said.
func TestWorkloadRef(t *testing.T) {
	cluster := strings.ReplaceAll(strings.Replace(gangOf, "GROUP", "", 1), "REF", "workloadRef")
	status, stdout, stderr := call(strings.NewReader(strings.Replace(cluster, `"priority":5`, `"priority":5,"workloadRef":{"name":"w","podGroup":"h"}`, 1)))
	stdout = strings.Join(strings.Fields(stdout), " ")
	for _, want := range []string{
		"x/g-1 0 1 n",
		"has room is unknown: Pod x/g-0: spec.workloadRef is not modelled: of Kubernetes 1.35: it counts as a pod of no group (and 1 more).",
		"Nor is this known: Pod y/new: spec.workloadRef is not modelled: of Kubernetes 1.35: it asks as a pod of no group.",
	} {
		if status != 3 || stderr != "" || !strings.Contains(stdout, want) {
			t.Errorf("status %d, %q, %q, want %q", status, stdout, stderr, want)
		}
	}
}

// A tree of groups waits in a rack, and another one yields whole, with the priority of its root (Kubernetes v1.37).
func TestTrees(t *testing.T) {
	status, stdout, stderr := call(nil, "-f", "testdata/tree.yaml")
	stdout = strings.Join(strings.Fields(stdout), " ")
	for _, want := range []string{
		"group composite/x/new of 2 pods, priority 5 needs 2 groups in it", "It has a place once group composite/x/old yields.",
		"r0: 1 victim up to priority 1; chosen", "x/new-a-0 n0 x/new-b-0 n1", "group composite/x/old 1 2 n0 n2 -",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is missing: %s", want, stdout)
		}
	}
	if status != 0 || stderr != "" || strings.Contains(stdout, "Note") {
		t.Errorf("status %d, %q, %s", status, stderr, stdout)
	}
}
