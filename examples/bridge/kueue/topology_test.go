package kueue_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// What a pod set asks of the topology, and the levels of the flavors' topologies, are in the state. Room
// in a domain is not known, which a yes depends on and a no does not.
func TestTopology(t *testing.T) {
	const (
		flavor = `"spec":{"topologyName":"tree"}`
		tree   = `"spec":{"levels":[{"nodeLabel":"block"},{"nodeLabel":"rack"}]}`
		local  = `"spec":{"clusterQueue":"a"}`
	)
	asking := func(request string) string {
		return item("Workload", "n/w", `"spec":{"queueName":"lq","podSets":[{"name":"main","count":1,"topologyRequest":`+request+`}]}`)
	}
	const room = "whether a domain of it has room is not known"
	for _, c := range []struct {
		name, topology, request string
		want                    workload.TopologyRequest
		doubts, onNo            []string // parts of their texts
	}{
		{"a level", tree, `{"required":"rack"}`, workload.TopologyRequest{Required: "rack"}, []string{room}, nil},
		{"preferred, with slices", tree, `{"preferred":"block","podSetSliceRequiredTopology":"rack","podSetSliceSize":2}`,
			workload.TopologyRequest{Preferred: "block", SliceRequired: "rack"}, []string{room}, nil},
		{"slices alone", tree, `{"podSetSliceRequiredTopology":"rack","podSetSliceSize":2}`, workload.TopologyRequest{SliceRequired: "rack"}, []string{room}, nil},
		{"anywhere", tree, `{"unconstrained":true}`, workload.TopologyRequest{Unconstrained: true}, []string{room}, nil},
		{"a place that pod sets share", tree, `{"podSetGroupName":"g"}`, workload.TopologyRequest{Unconstrained: true}, []string{room}, nil},
		{"the topology is not there", "", `{"required":"rack"}`, workload.TopologyRequest{Required: "rack"}, []string{"Topology tree is not in the input", room}, []string{"Topology tree is not in the input"}},
		{"nothing is asked for, and every flavor has a topology", tree, `null`, workload.TopologyRequest{}, []string{room}, nil},
	} {
		items := []string{gpuQueue("a", 8), item("LocalQueue", "n/lq", local), item("ResourceFlavor", "h100", flavor), asking(c.request)}
		if c.topology != "" {
			items = append(items, item("Topology", "tree", c.topology))
		}
		cluster := mustRead(t, list(items...))
		wantFlavor := queue.Topology{Name: "tree"}
		if c.topology != "" {
			wantFlavor.Levels = []string{"block", "rack"}
		}
		if diff := cmp.Diff(wantFlavor, cluster.State.Flavors[0].Topology); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, diff)
		}
		got := workload.TopologyRequest{}
		if constraints := cluster.Pending[0].Workload.PodSets[0].NodeConstraints; constraints != nil {
			got = constraints.Topology
		}
		if got != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
		check := func(what string, got []bridge.Note, want []string) {
			if len(got) != len(want) {
				t.Errorf("%s: %s: %q, want %q", c.name, what, got, want)
				return
			}
			for i := range want {
				if !strings.Contains(got[i].Text, want[i]) || got[i].Path != "spec.podSets[0].topologyRequest" {
					t.Errorf("%s: %s: %q, want %q", c.name, what, got, want)
				}
			}
		}
		check("for a yes", cluster.DoubtsOn("n/w", "a"), c.doubts)
		check("for a no", cluster.DoubtsOnNo("n/w", "a"), c.onNo)
		check("another workload", cluster.DoubtsOn("n/other", "a"), nil)
	}
}
