package kueue_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/read"
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
}

// A queue that names a ResourceFlavor, a Topology or an AdmissionCheck that has no object is inactive in Kueue. Where the
// object is not in the input it may be in the cluster: the answers are unknown, until the caller says that it is missing.
func TestObjectsThatAreNotInTheInput(t *testing.T) {
	queueOf := func(more string) string {
		return strings.Replace(gpuQueue("a", 8), `"spec":{`, `"spec":{`+more, 1)
	}
	flavor := item("ResourceFlavor", "h100", "")
	placed := item("ResourceFlavor", "h100", `"spec":{"topologyName":"racks"}`)
	const checked = `"admissionChecksStrategy":{"admissionChecks":[{"name":"prov"}]},`
	check := func(name, controller, active string) string {
		return item("AdmissionCheck", name, `"spec":{"controllerName":"`+controller+`"},"status":{"conditions":[{"type":"Active","status":"`+active+`"}]}`)
	}
	workers := check("workers", "kueue.x-k8s.io/multikueue", "True")
	for _, c := range []struct {
		name    string
		objects []string
		missing string // object that is not in the input; empty: none
		stops   string // why the queue is inactive as things stand
	}{
		{"all there", []string{queueOf(""), flavor}, "", ""},
		{"flavor", []string{queueOf("")}, "ResourceFlavor h100", ""},
		{"topology", []string{queueOf(""), placed}, "Topology racks", ""},
		{"topology there", []string{queueOf(""), placed, item("Topology", "racks", `"spec":{"levels":[{"nodeLabel":"rack"}]}`)}, "", ""},
		{"check", []string{queueOf(checked), flavor}, "AdmissionCheck prov", ""},
		{"check of v1beta1", []string{queueOf(`"admissionChecks":["prov"],`), flavor}, "AdmissionCheck prov", ""},
		{"check there", []string{queueOf(checked), flavor, check("prov", "x", "True")}, "", ""},
		{"check inactive", []string{queueOf(checked), flavor, check("prov", "x", "False")}, "", "the AdmissionCheck prov is not active"},
		{"check without condition", []string{queueOf(checked), flavor, item("AdmissionCheck", "prov", `"spec":{"controllerName":"x"}`)}, "", "the AdmissionCheck prov is not active"},
		{"one of MultiKueue places in the worker", []string{queueOf(`"admissionChecks":["workers"],`), placed, workers}, "", ""},
		{"two of MultiKueue", []string{queueOf(`"admissionChecks":["workers","more"],`), flavor, workers, check("more", "kueue.x-k8s.io/multikueue", "True")}, "", "several AdmissionChecks of MultiKueue: workers, more"},
		{"beside provisioning", []string{queueOf(`"admissionChecks":["workers","prov"],`), flavor, workers, check("prov", "kueue.x-k8s.io/provisioning-request", "True")}, "", "of MultiKueue and of provisioning: workers, prov"},
		{"for some flavors", []string{queueOf(`"admissionChecksStrategy":{"admissionChecks":[{"name":"workers","onFlavors":["other"]}]},`), flavor, workers}, "", "for some flavors only"},
		{"for all flavors by name", []string{queueOf(`"admissionChecksStrategy":{"admissionChecks":[{"name":"workers","onFlavors":["h100"]}]},`), flavor, workers}, "", ""},
	} {
		got := mustRead(t, list(c.objects...))
		stops := ""
		for _, n := range got.QueueNotes["a"] {
			if n.Stops {
				stops += n.Text
			}
		}
		if got.State.Queues[0].Inactive != (c.stops != "") || !strings.Contains(stops, c.stops) || (stops == "") != (c.stops == "") {
			t.Errorf("%s: inactive %t, %q, want %q", c.name, got.State.Queues[0].Inactive, stops, c.stops)
		}
		doubts := got.DoubtsOn("", "a")
		if (len(doubts) == 1) != (c.missing != "") || len(doubts) == 1 && doubts[0].Object != c.missing {
			t.Errorf("%s: doubts %+v, want one about %q", c.name, doubts, c.missing)
		}
		if c.missing == "" {
			continue
		}
		var k read.Kueue
		if _, err := input.Read([]input.Source{{Name: "in", Reader: strings.NewReader(list(c.objects...))}}, input.Options{}, k.Add); err != nil {
			t.Fatal(err)
		}
		kind, name, _ := strings.Cut(c.missing, " ")
		k.Miss(kind, name)
		if said := k.Cluster(); !said.State.Queues[0].Inactive || len(said.DoubtsOn("", "a")) != 0 {
			t.Errorf("%s, missing: %+v", c.name, said.QueueNotes)
		}
	}
}

// What the status says of a queue counts where the input shows why, or may not show all; else it is a doubt: Kueue finds it
// out anew.
func TestInactiveByItsStatus(t *testing.T) {
	inactive := strings.Replace(gpuQueue("a", 8), `"spec":{`, `"status":{"conditions":[{"type":"Active","status":"False","reason":"r","message":"m"}]},"spec":{`, 1)
	for _, c := range []struct {
		name, queue string
		flavor      bool
		stops       bool
	}{
		{"nothing shows why", inactive, true, false},
		{"a flavor is not in the input", inactive, false, true},
		{"stopped", strings.Replace(inactive, `"spec":{`, `"spec":{"stopPolicy":"Hold",`, 1), true, true},
	} {
		objects := []string{c.queue}
		if c.flavor {
			objects = append(objects, item("ResourceFlavor", "h100", ""))
		}
		got := mustRead(t, list(objects...))
		doubts := got.DoubtsOn("", "a")
		if got.State.Queues[0].Inactive != c.stops || !c.stops && (len(doubts) != 1 || doubts[0].Path != "status.conditions[Active]") {
			t.Errorf("%s: %t, %+v", c.name, got.State.Queues[0].Inactive, doubts)
		}
	}
}
