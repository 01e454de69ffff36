package kueue_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kueue"
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
		{"slices of no level", tree, `{"podSetSliceSize":2}`, workload.TopologyRequest{Unconstrained: true}, []string{room}, nil},
		{"not unconstrained", tree, `{"unconstrained":false}`, workload.TopologyRequest{Unconstrained: true}, []string{room}, nil},
		{"only which pod goes where", tree, `{"podIndexLabel":"x"}`, workload.TopologyRequest{}, []string{room}, nil},
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

// Where Kueue placed pods is read from the lists of v1beta1 and from the slices of v1beta2.
func TestPlaces(t *testing.T) {
	at := func(count int64, values ...string) bridge.Place { return bridge.Place{Values: values, Count: count} }
	for _, c := range []struct {
		name, assignment string
		want             []bridge.Place
		fault            string
	}{
		{"lists", `{"levels":["rack","host"],"domains":[{"values":["r0","h0"],"count":2},{"values":["r0","h1"],"count":1}]}`, []bridge.Place{at(2, "r0", "h0"), at(1, "r0", "h1")}, ""},
		{"slices", `{"levels":["rack","host"],"slices":[{"domainCount":2,"valuesPerLevel":[{"universal":"r0"},{"individual":{"prefix":"h","suffix":".x","roots":["0","1"]}}],"podCounts":{"individual":[2,1]}},
			{"domainCount":1,"valuesPerLevel":[{"universal":"r1"},{"universal":"h2"}],"podCounts":{"universal":3}}]}`, []bridge.Place{at(2, "r0", "h0.x"), at(1, "r0", "h1.x"), at(3, "r1", "h2")}, ""},
		{"a value is missing", `{"levels":["host"],"slices":[{"domainCount":2,"valuesPerLevel":[{"individual":{"roots":["0"]}}],"podCounts":{"universal":1}}]}`, nil, "other than one value"},
		{"no pods", `{"levels":["host"],"domains":[{"values":["h0"]}]}`, nil, "or no pods"},
		{"another form", `{"levels":["host"],"zones":[]}`, nil, "unknown field"},
		{"a text", `"h0"`, nil, "cannot unmarshal"},
		{"far too many", `{"levels":["host"],"slices":[{"domainCount":2000000000,"valuesPerLevel":[{"universal":"h"}],"podCounts":{"universal":1}}]}`, nil, "has 2000000000 domains"},
	} {
		got := mustRead(t, list(gpuQueue("a", 8), item("ResourceFlavor", "h100", ""), item("Workload", "n/w", `"spec":{},"status":{`+conditions("QuotaReserved x 08:00:00")+
			`,"admission":{"clusterQueue":"a","podSetAssignments":[{"name":"main","flavors":{"nvidia.com/gpu":"h100"},"resourceUsage":{"nvidia.com/gpu":"3"},"topologyAssignment":`+c.assignment+`}]}}`)))
		places := got.Places["n/w"]
		if len(places) != 1 || places[0].PodSet != "main" || len(got.State.Admitted) != 1 || len(got.Doubts) != 0 {
			t.Errorf("%s: %+v, %+v, %+v", c.name, places, got.State.Admitted, got.Doubts)
			continue
		}
		_, domains, err := kueue.ReadPlaces(places[0].Assignment)
		if diff := cmp.Diff(c.want, domains); diff != "" || (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: %v, -want +got:\n%s", c.name, err, diff)
		}
	}
}
