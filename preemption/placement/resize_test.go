package placement_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/workload"
)

// A pod that wants more on its node needs the difference: what it has is free for it, its slot too, and its node need not
// be schedulable. (As built in Kubernetes v1.37.)
func TestResize(t *testing.T) {
	st := placement.State{
		Nodes: []workload.Node{
			{Name: "n1", Capacity: workload.Resources{"cpu": 4, workload.PodsResource: 3}, Unschedulable: true}, machine("n2", 9),
		},
		Pods: []workload.Pod{cpu("grows", "n1", 5, 2), cpu("low", "n1", 1, 1), cpu("lower", "n1", 0, 1)},
	}
	for name, c := range map[string]struct {
		want  int64
		text  string
		edits int
	}{
		"one more":     {3, "Preempt grows@n1; evict lower", 1},
		"two more":     {4, "Preempt grows@n1; evict low lower", 2},
		"less":         {1, "Fits grows@n1", 1},
		"over the top": {5, "Impossible (NoRoom)", 0},
	} {
		r := placement.Request{Resize: true, Priority: 5, Pods: []workload.Pod{{ID: "grows", Requests: workload.Resources{"cpu": c.want}}}}
		for _, mode := range allModes {
			s := snapshotOf(t, st)
			d := decide(t, placement.Config{Mode: mode}, s, r)
			if got := text(d); got != c.text || len(d.Edits()) != c.edits {
				t.Errorf("%s, %v: %q, want %q; %d edits", name, mode, got, c.text, len(d.Edits()))
			}
			next := edit(t, s, d.Edits()...)
			p, runs := next.Find("grows")
			if grown := p.Requests["cpu"] == c.want; !runs || grown != (d.Outcome == preemption.Fits) || p.Node != "n1" {
				t.Errorf("%s, %v: it runs as %+v", name, mode, p)
			}
			if _, nominated := next.Nominated("grows"); nominated {
				t.Errorf("%s, %v: a pod that runs is nominated", name, mode)
			}
		}
	}
	full := placement.Request{Resize: true, Priority: 5}
	for want, change := range map[string]func(r *placement.Request){
		"request.pods: 0 pods: a resize is that of one":        func(*placement.Request) {},
		`request.pods[0].id: no pod "x" runs`:                  func(r *placement.Request) { r.Pods = []workload.Pod{{ID: "x"}} },
		`request.priority: 6 differs from 5 of pod "grows"`:    func(r *placement.Request) { r.Priority, r.Pods = 6, []workload.Pod{{ID: "grows"}} },
		`request.group: "g": a resize is that of a single pod`: func(r *placement.Request) { r.Group, r.Pods = "g", []workload.Pod{{ID: "grows"}} },
		`request.pods[0].requests.cpu: -1 is negative`:         func(r *placement.Request) { r.Pods = []workload.Pod{cpu("grows", "", 0, -1)} },
	} {
		r := full
		change(&r)
		if _, err := new(placement.Preemptor).Decide(snapshotOf(t, st), r); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Placements and Choose ask about a resize as Decide does.
func TestPlacementsOfResize(t *testing.T) {
	st := placement.State{Nodes: []workload.Node{{Name: "n", Capacity: workload.Resources{"cpu": 4}}, {Name: "other", Capacity: workload.Resources{"cpu": 4}}},
		Pods: []workload.Pod{cpu("grows", "n", 5, 2), cpu("low", "n", 0, 2)}}
	r := placement.Request{Resize: true, Priority: 5, Pods: []workload.Pod{{ID: "grows", Requests: workload.Resources{"cpu": 3}}}}
	s, p := snapshotOf(t, st), new(placement.Preemptor)
	list, err := p.Placements(s, r)
	if err != nil || len(list) != 1 || list[0].Domain != "n" || len(list[0].Victims) != 1 || list[0].Victims[0].Pods[0] != "low" {
		t.Fatalf("%+v, %v", list, err)
	}
	d, err := p.Choose(s, r, list)
	if err != nil || d.Outcome != preemption.Preempt || d.Domain != "n" || len(d.Pods) > 0 {
		t.Errorf("%+v, %v", d, err)
	}
	r.Pods[0].ID = "unknown"
	if _, err := p.Placements(s, r); err == nil {
		t.Error("an unknown pod is resized")
	}
	if _, err := p.Choose(s, r, list); err == nil {
		t.Error("an unknown pod is resized")
	}
}

// The judge has nothing against decisions about pods that are resized.
func resizesVerify(t *rapid.T) {
	record := preemptiontest.PlacementRecords().Draw(t, "record")
	c, st, r := preemptiontest.PlacementConfigs().Draw(t, "config"), record.State, *record.Request
	if len(st.Pods) == 0 {
		return
	}
	p := rapid.SampledFrom(st.Pods).Draw(t, "resized")
	root, known := rootOf(st, p.Group)
	if p.Terminating {
		return
	}
	r = withoutNeeds(r)
	r.Priority, r.Queue, r.Group, r.Resize = p.Priority, p.Queue, "", true
	if known {
		r.Priority, r.Queue = root.Priority, root.Queue
	}
	wants := workload.Resources{"cpu": rapid.Int64Range(0, 6).Draw(t, "cpu"), "gpu": rapid.Int64Range(0, 2).Draw(t, "gpu")}
	r.Pods = []workload.Pod{{ID: p.ID, Requests: wants}}
	d := decide(t, c, snapshotOf(t, st), r)
	verified(t, st, r, c, d)
	edit(t, snapshotOf(t, st), d.Edits()...)
}
