package kueue_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

func TestFlavors(t *testing.T) {
	c := mustRead(t, list(gpuQueue("a", 8), item("LocalQueue", "n/lq", `"spec":{"clusterQueue":"a"}`),
		item("ResourceFlavor", "h100", `"spec":{"nodeLabels":{"gpu":"h100"},"topologyName":"racks",
			"nodeTaints":[{"key":"spot","value":"yes","effect":"NoSchedule"},{"key":"soft","effect":"PreferNoSchedule"}],
			"tolerations":[{"key":"spot","operator":"Exists"},{"key":"cores","operator":"Gt","value":"4"}]}`),
		item("ResourceFlavor", "odd", `"spec":{"nodeTaints":[{"key":"k","effect":"Sometimes"}]}`),
		item("Workload", "n/w", `"spec":{"queueName":"lq","podSets":[{"name":"main","count":1,"template":{"spec":{
			"nodeSelector":{"gpu":"h100"},"tolerations":[{"operator":"Exists","effect":"NoExecute"},{"key":"x","effect":"Later"}],
			"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
				{"matchExpressions":[{"key":"zone","operator":"NotIn","values":["a"]},{"key":"n","operator":"Gt","values":["many"]}],
				 "matchFields":[{"key":"metadata.name","operator":"In","values":["node"]}]}]},
				"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{"matchExpressions":[{"key":"p","operator":"Exists"}]}}]}},
			"containers":[{"resources":{"requests":{"nvidia.com/gpu":"1"}}}]}}}]}`)))
	want := []queue.Flavor{{Name: "h100", NodeLabels: map[string]string{"gpu": "h100"},
		NodeTaints:  []workload.Taint{{Key: "spot", Value: "yes", Effect: workload.NoSchedule}, {Key: "soft", Effect: workload.PreferNoSchedule}},
		Tolerations: []workload.Toleration{{Key: "spot", Operator: workload.TolerationExists}}, Topology: queue.Topology{Name: "racks"}}, {Name: "odd"}}
	if diff := cmp.Diff(want, c.State.Flavors); diff != "" || c.Topologies["h100"] != "racks" {
		t.Errorf("-want +got:\n%s, topologies %v", diff, c.Topologies)
	}
	for _, want := range []string{`ResourceFlavor h100: a toleration of "cores"`, `ResourceFlavor odd: spec.nodeTaints[0].effect: "Sometimes" is unknown`} {
		if !slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, want) }) {
			t.Errorf("no warning %q in %q", want, c.Warnings)
		}
	}
	constraints := &workload.NodeConstraints{
		NodeSelector: map[string]string{"gpu": "h100"},
		NodeAffinity: []workload.NodeSelectorTerm{{MatchExpressions: []workload.LabelRequirement{{Key: "zone", Operator: workload.NotIn, Values: []string{"a"}}}}},
		Tolerations:  []workload.Toleration{{Operator: workload.TolerationExists, Effect: workload.NoExecute}},
	}
	p := c.Pending[0]
	if diff := cmp.Diff(constraints, p.Workload.PodSets[0].NodeConstraints); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if notes := strings.Join(bridge.Texts(p.Notes), "; "); len(p.Notes) != 3 || !strings.Contains(notes, `toleration of "x"`) || !strings.Contains(notes, `about "n" is not looked at`) {
		t.Errorf("%q", p.Notes)
	}
	if notes := bridge.Texts(c.QueueNotes["a"]); len(notes) != 0 {
		t.Errorf("%q", notes)
	}
}

// A queue with quota in a flavor that has no object is inactive (FlavorNotFound). Where its status says that it
// is active, the flavor was not given, and the answers are unknown.
func TestFlavorWithoutObject(t *testing.T) {
	active := func(status string) string {
		return strings.Replace(gpuQueue("a", 8), `"spec":{`, `"status":{"conditions":[{"type":"Active","status":"`+status+`","reason":"r","message":"m"}]},"spec":{`, 1)
	}
	for _, c := range []struct {
		name, queue string
		inactive    bool
		notes       int
		want        string
	}{
		{"nothing says more", gpuQueue("a", 8), true, 1, "ClusterQueue a is inactive and admits nothing: it has quota in flavor h100, whose ResourceFlavor is not in the input"},
		{"inactive", active("False"), true, 2, "is inactive and admits nothing: r: m"},
		{"active", active("True"), false, 1, "labels and taints are not known"},
	} {
		got := mustRead(t, c.queue)
		notes := got.QueueNotes["a"]
		if got.State.Queues[0].Inactive != c.inactive || len(notes) != c.notes || notes[0].Stops != c.inactive || !strings.Contains(notes[0].Text, c.want) {
			t.Errorf("%s: inactive %t, %+v", c.name, got.State.Queues[0].Inactive, notes)
		}
		if doubts := got.DoubtsOn("", "a"); (len(doubts) == 1) == c.inactive || len(doubts) == 1 && doubts[0] != notes[0] {
			t.Errorf("%s: doubts %+v", c.name, doubts)
		}
		if got = mustRead(t, list(c.queue, item("ResourceFlavor", "h100", ""))); len(got.DoubtsOn("", "a")) != 0 || len(got.QueueNotes["a"]) != c.notes-1 && c.notes > 1 {
			t.Errorf("%s, with the flavor: %+v", c.name, got.QueueNotes)
		}
	}
}
