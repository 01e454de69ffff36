package moves_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/workload"
)

// pieces are two racks of two nodes of 8 GPUs, of which the second is empty but for a driver, a node in no rack, and a closed one.
func pieces(t *testing.T) (*placement.Snapshot, moves.ClearRequest) {
	st := placement.State{}
	for _, name := range []string{"a0", "a1", "b0", "b1", "apart", "closed"} {
		st.Nodes = append(st.Nodes, workload.Node{Name: name, Capacity: workload.Resources{"gpu": 8, "cpu": 4}, Unschedulable: name == "closed"})
	}
	run := func(id, node string, gpu, cpu int64) {
		st.Pods = append(st.Pods, workload.Pod{
			ID: id, Node: node, Requests: workload.Resources{"gpu": gpu, "cpu": cpu}, Started: now.Add(-time.Hour),
		})
	}
	run("p", "a0", 5, 1)
	run("q", "a1", 1, 4) // no cpu is left
	run("driver", "b0", 0, 1)
	run("r", "apart", 4, 0)
	return snapshot(t, st), moves.ClearRequest{
		Now: now, Measure: "gpu", Count: 3,
		Domains: []placement.Domain{{Name: "a", Nodes: []string{"a0", "a1"}}, {Name: "b", Nodes: []string{"b0", "b1"}}, {Name: "none"}},
		Stays:   func(p workload.Pod) bool { return p.ID == "driver" },
		Waiting: []workload.Pod{
			// On a0 one fits, and 1 of 3 is lost; on a1 7 are, without cpu; on b0 3 fit, and 2 are lost.
			{ID: "w", Requests: workload.Resources{"gpu": 2, "cpu": 1}},
			{ID: "x", Requests: workload.Resources{"gpu": 8}, Nodes: []string{"b0", "other"}},   // all but b0 is lost
			{ID: "y", Requests: workload.Resources{"cpu": 1}},                                   // wants none
			{ID: "z", Requests: workload.Resources{"gpu": 1}, Nowhere: true, Nodes: []string{}}, // all is lost
		},
	}
}

// Each measure by hand.
func TestMeasures(t *testing.T) {
	s, r := pieces(t)
	got, err := moves.Measure(s, r)
	want := moves.Fragmentation{
		Resource: "gpu", Capacity: 40, Free: 3 + 7 + 8 + 8 + 4, Nodes: 5, FreeNodes: 2, Domains: 3, FreeDomains: 1, Largest: 8, Gang: 2,
		Waiting: 3, Unusable: (1 + 7 + 2 + 0 + 0) + (3 + 7 + 0 + 8 + 4) + 30, Stranded: 1 + 7 + 0 + 0 + 0,
	}
	if got != want || err != nil {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
	r.Domains, r.Waiting = nil, nil
	got, err = moves.Measure(s, r)
	want.Domains, want.FreeDomains, want.Waiting, want.Unusable, want.Stranded = 0, 0, 0, 0, 0
	if got != want || err != nil {
		t.Errorf("without racks, and without a waiting pod: %+v, %v\nwant %+v", got, err, want)
	}
	r.Domains = []placement.Domain{{Name: "c", Nodes: []string{"b1", "closed"}}, {Name: "d", Nodes: []string{"a0", "lost"}}}
	if _, err = moves.Measure(s, r); err == nil || err.Error() != `request.domains[1].nodes[1]: unknown node "lost"` {
		t.Error(err)
	}
	r.Domains[1].Nodes = nil
	if got, err = moves.Measure(s, r); got.FreeDomains != 0 || got.Gang != 1 || err != nil {
		t.Errorf("a rack with a closed node is free: %+v, %v", got, err)
	}
}

// The judge sees each measure that is wrong, and one that nobody asked for.
func TestMeasuresAreJudged(t *testing.T) {
	s, r := pieces(t)
	a, err := moves.Clear(nil, s, r, moves.Config{})
	if err != nil || a.TimeLost != 6*3600 || a.After.FreeNodes != 4 {
		t.Fatalf("%+v, %v", a, err)
	}
	after, lost := *a.After, a.TimeLost
	for name, spoil := range map[string]func(a *moves.ClearAnswer){
		"":         func(*moves.ClearAnswer) {},
		"before":   func(a *moves.ClearAnswer) { a.Before = nil },
		"after":    func(a *moves.ClearAnswer) { spoilt := after; spoilt.Gang++; a.After = &spoilt },
		"timeLost": func(a *moves.ClearAnswer) { a.TimeLost = lost + 1 },
	} {
		spoilt := a
		spoil(&spoilt)
		err := verify.Clear(s.State(), r, placement.Config{}, moves.Config{}, spoilt)
		if (name == "") != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), name+":") {
			t.Errorf("%q: %v", name, err)
		}
	}
	r.Measure = ""
	if err := verify.Clear(s.State(), r, placement.Config{}, moves.Config{}, a); err == nil || !strings.HasPrefix(err.Error(), "before:") {
		t.Error(err)
	}
}
