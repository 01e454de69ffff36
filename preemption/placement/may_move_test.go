package placement_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Where a running pod may go is kept by a snapshot, its state, JSON, edits and Sync, and by a request that starts.
func TestWhereRunningPodsMayGoIsKept(t *testing.T) {
	st := placement.State{
		Nodes: []workload.Node{{Name: "a", Capacity: workload.Resources{"cpu": 4}}, {Name: "b", Capacity: workload.Resources{"cpu": 4}}},
		Pods:  []workload.Pod{{ID: "p", Node: "a", Nodes: []string{"a", "b"}}, {ID: "q", Node: "a", Nowhere: true}},
	}
	s := must(placement.NewSnapshot(st))(t)
	keeps := func(what string, s *placement.Snapshot, id string, nodes []string, nowhere bool) {
		t.Helper()
		if p, _ := s.Find(id); !reflect.DeepEqual(p.Nodes, nodes) || p.Nowhere != nowhere {
			t.Errorf("%s: pod %s may go to %v, nowhere %v, want %v, %v", what, id, p.Nodes, p.Nowhere, nodes, nowhere)
		}
	}
	keeps("a snapshot", s, "p", []string{"a", "b"}, false)
	keeps("a snapshot", s, "q", nil, true)
	data := must(json.Marshal(s.State()))(t)
	var read placement.State
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	if _, edits, err := s.Sync(read); err != nil || len(edits) != 0 {
		t.Errorf("the state as JSON: %v, %v, want no edits", edits, err)
	}
	read.Pods[0].Nodes, read.Pods[1].Nowhere = []string{"b"}, false
	changed, edits, err := s.Sync(read)
	if err != nil || len(edits) == 0 {
		t.Fatalf("%v, %v, want edits", edits, err)
	}
	keeps("Sync", changed, "p", []string{"b"}, false)
	keeps("Sync", changed, "q", nil, false)

	request := placement.Request{Priority: 1, Pods: []workload.Pod{{ID: "in", Requests: workload.Resources{"cpu": 1}, Nodes: []string{"b"}}}}
	d := must(new(placement.Preemptor).Decide(s, request))(t)
	started := must(s.With(d.Edits()...))(t)
	keeps("a decision", started, "in", []string{"b"}, false)
}
