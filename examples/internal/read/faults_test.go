package read

import (
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/input"
)

// A field that the API does not have, or that is there twice, is a note with its path, in JSON and in
// YAML; the answers that it may change are in doubt.
func TestFieldsThatAreNotRead(t *testing.T) {
	const json = `{"kind":"List","apiVersion":"v1","items":[
		{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"q"},"spec":{"namespaceSelector":{}%s}},
		{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"lq","namespace":"ns"},"spec":{"clusterQueue":"q"}},
		{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w","namespace":"ns"},"spec":{"queueName":"lq","podSets":[{"name":"main"}]}},
		{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"v","namespace":"ns"},"spec":{"queueName":"lq"%w,"podSets":[{"name":"main"}]}%s}]}`
	const yaml = `apiVersion: v1
kind: List
items:
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: ClusterQueue
  metadata: {name: q}
  spec: {namespaceSelector: {}%s}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: LocalQueue
  metadata: {name: lq, namespace: ns}
  spec: {clusterQueue: q}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: Workload
  metadata: {name: w, namespace: ns}
  spec: {queueName: lq, podSets: [{name: main}]}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: Workload
  metadata: {name: v, namespace: ns}
  spec: {queueName: lq%w, podSets: [{name: main}]}
`
	const (
		twice   = " is there twice: the last one counts"
		unknown = " is not a field that is known"
	)
	for _, c := range []struct{ queue, workload, note, doubts string }{
		{"", "", "", ""},
		{`,"preemption":{"minAdmitDuration":"1h"}`, "",
			"ClusterQueue q: spec.preemption.minAdmitDuration" + unknown + " (spec.preemption.withinClusterQueueConfig.minAdmitDuration is one)", "ns/v ns/w"},
		{`,"preemption":{"withinCohort":"ReclaimFromAny"}`, "",
			"ClusterQueue q: spec.preemption.withinCohort" + unknown + " (spec.preemption.reclaimWithinCohort is one)", "ns/v ns/w"},
		{`,"stopPolicy":"Hold","stopPolicy":"None"`, "", "ClusterQueue q: spec.stopPolicy" + twice, "ns/v ns/w"},
		{"", `,"priority":1,"priority":2`, "Workload ns/v: spec.priority" + twice, "ns/v"},
		{"", `,"podSet":[]`, "Workload ns/v: spec.podSet" + unknown, "ns/v"},
	} {
		for _, text := range []string{json, yaml} {
			text = strings.Replace(strings.Replace(strings.Replace(text, "%s", c.queue, 1), "%w", c.workload, 1), "%s", "", 1)
			if strings.HasPrefix(text, "apiVersion") {
				text = strings.NewReplacer(`,"`, `, "`, `":`, `": `).Replace(text)
			}
			var k Kueue
			notes, err := input.Read([]input.Source{{Name: "in", Reader: strings.NewReader(text)}}, input.Options{}, k.Add)
			if err != nil || len(notes) > 0 {
				t.Fatalf("%v, %q", err, notes)
			}
			cluster := k.Cluster()
			var reached []string
			for _, p := range cluster.Pending {
				if len(cluster.DoubtsOn(p.Workload.ID, p.Workload.Queue)) > 0 {
					reached = append(reached, p.Workload.ID)
				}
			}
			slices.Sort(reached)
			if got := strings.Join(bridge.Texts(cluster.Notes), "; "); got != c.note || strings.Join(reached, " ") != c.doubts {
				t.Errorf("%s:\n%q, want %q\n%q, want %q", text, got, c.note, reached, c.doubts)
			}
		}
	}
}
