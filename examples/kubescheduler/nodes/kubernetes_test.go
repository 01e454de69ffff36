package main

import (
	"strings"
	"testing"
)

// What the scheduler of Kubernetes does with pods that are not the plain case.
func TestAsKubernetes(t *testing.T) {
	const (
		node  = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"4","pods":"10"}}}`
		gang  = `{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"g","namespace":"a"},"spec":{"priority":5,"schedulingPolicy":{"gang":{"minCount":2}}}}`
		waits = `"schedulingGroup":{"podGroupName":"g"},"containers":[{"resources":{"requests":{"cpu":"1"}}}]`
	)
	pod := func(name, spec, status string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `","namespace":"a"},"spec":{` + spec + `},"status":{` + status + `}}`
	}
	port := func(text string) string { return `"containers":[{"ports":[{` + text + `}]}]` }
	unschedulable := strings.Replace(node, `"status"`, `"spec":{"unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]},"status"`, 1)
	for name, c := range map[string]struct {
		objects []string
		status  int
		want    string
	}{
		"a member that failed does not count for its gang": {
			[]string{node, gang, pod("old", `"nodeName":"n",`+waits, `"phase":"Failed"`), pod("new", waits, "")}, 2, "its gang needs 2 more pods, but 1 wait"},
		"a member that is done does not either": {
			[]string{node, gang, pod("old", `"nodeName":"n",`+waits, `"phase":"Succeeded"`), pod("new", waits, "")}, 2, "its gang needs 2 more pods, but 1 wait"},
		"a member that runs does": {
			[]string{node, gang, pod("old", `"nodeName":"n",`+waits, `"phase":"Running"`), pod("new", waits, "")}, 0, "It has a place now."},
		"an unschedulable node is tolerated": {
			[]string{unschedulable, pod("p", `"tolerations":[{"operator":"Exists"}],"containers":[{}]`, "")}, 0, "It has a place now."},
		"or it is not": {
			[]string{unschedulable, pod("p", `"containers":[{}]`, "")}, 1, "no node takes pod a/p: of 1 in the input"},
		"a port of two addresses": {
			[]string{node, pod("r", `"nodeName":"n",`+port(`"hostPort":80,"hostIP":"10.0.0.1"`), ""), pod("p", `"priority":5,`+port(`"hostPort":80,"hostIP":"10.0.0.2"`), "")}, 0, "It has a place now."},
		"of one address and all": {
			[]string{node, pod("r", `"nodeName":"n",`+port(`"hostPort":80,"hostIP":"10.0.0.1"`), ""), pod("p", `"priority":5,`+port(`"hostPort":80,"hostIP":"0.0.0.0"`), "")}, 0, "It has a place once"},
		"of two protocols": {
			[]string{node, pod("r", `"nodeName":"n",`+port(`"hostPort":80,"protocol":"UDP"`), ""), pod("p", `"priority":5,`+port(`"hostPort":80`), "")}, 0, "It has a place now."},
		"of one protocol": {
			[]string{node, pod("r", `"nodeName":"n",`+port(`"hostPort":80,"protocol":"TCP"`), ""), pod("p", `"priority":5,`+port(`"hostPort":80`), "")}, 0, "It has a place once"},
		"what waits cannot be read": {
			[]string{node, pod("p", `"containers":5`, "")}, 3, "Whether pod a/p has room is unknown: Pod a/p cannot be read: spec.containers: want a list, found a number."},
		"null in place of an object or a list is nothing": {
			[]string{node, pod("r", `"nodeName":"n","initContainers":null,"overhead":null,"containers":[{"resources":{"requests":null,"limits":null}},{"resources":null}]`, `"containerStatuses":null`),
				pod("p", `"priority":5,"containers":[{"resources":{"requests":{"cpu":"4"}}}]`, "")}, 0, "It has a place now."},
		"null in place of an amount cannot be read": {
			[]string{node, pod("r", `"nodeName":"n","priority":9,"containers":[{"resources":{"requests":{"cpu":null}}}]`, ""),
				pod("p", `"priority":5,"containers":[{"resources":{"requests":{"cpu":"4"}}}]`, "")}, 3,
			"has room is unknown: Pod a/r cannot be read: spec.containers[0].resources.requests.cpu: null is no quantity."},
		"nor can it in place of a container": {
			[]string{node, pod("r", `"nodeName":"n","priority":9,"containers":[null]`, ""),
				pod("p", `"priority":5,"containers":[{"resources":{"requests":{"cpu":"4"}}}]`, "")}, 3,
			"has room is unknown: Pod a/r cannot be read: spec.containers[0]: null is no item of a list."},
		"a pod that runs has containers": {
			[]string{node, pod("r", `"nodeName":"n","priority":9,"containers":null`, ""),
				pod("p", `"priority":5,"containers":[{"resources":{"requests":{"cpu":"4"}}}]`, "")}, 3,
			"has room is unknown: Pod a/r has no containers: what it takes is not known."},
		"one that has ended needs none": {
			[]string{node, pod("r", `"nodeName":"n","priority":9,"containers":null`, `"phase":"Failed"`),
				pod("p", `"priority":5,"containers":[{"resources":{"requests":{"cpu":"4"}}}]`, "")}, 0, "It has a place now."},
		"a pod that is resized in place takes the more": {
			[]string{node, pod("r", `"nodeName":"n","priority":9,"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]`,
				`"containerStatuses":[{"name":"c","allocatedResources":{"cpu":"3"},"resources":{"requests":{"cpu":"3"}}}]`),
				pod("p", `"priority":5,"containers":[{"resources":{"requests":{"cpu":"2"}}}]`, "")}, 1, "It has no place"},
		"one of which the resize is infeasible does not": {
			[]string{node, pod("r", `"nodeName":"n","priority":9,"containers":[{"name":"c","resources":{"requests":{"cpu":"9"}}}]`,
				`"conditions":[{"type":"PodResizePending","status":"True","reason":"Infeasible","lastTransitionTime":null}],
				"containerStatuses":[{"name":"c","allocatedResources":{"cpu":"1"},"resources":{"requests":{"cpu":"1"}}}]`),
				pod("p", `"priority":5,"containers":[{"resources":{"requests":{"cpu":"2"}}}]`, "")}, 0, "It has a place now."},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := call(strings.NewReader(`{"kind":"List","items":[` + strings.Join(c.objects, ",") + `]}`))
			if status != c.status || !strings.Contains(stdout+stderr, c.want) {
				t.Errorf("status %d, %q, %q; want %d, %q", status, stdout, stderr, c.status, c.want)
			}
		})
	}
}
