package placement_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/workload"
)

// A promise holds although another node would be filled better.
func TestPromiseBeforeTheBestFit(t *testing.T) {
	pod := workload.Pod{ID: "p", Group: "g", Requests: workload.Resources{"cpu": 1}}
	promised := pod
	promised.Node = "a"
	p := must(placement.New(placement.Config{Order: placement.BestFit}))(t)
	for _, nominated := range [][]workload.Pod{nil, {promised}} {
		st := placement.State{
			Nodes:     []workload.Node{{Name: "a", Capacity: workload.Resources{"cpu": 5}}, {Name: "b", Capacity: workload.Resources{"cpu": 1}}},
			Nominated: nominated,
			Groups:    []workload.PodGroup{{ID: "g"}},
		}
		d, err := p.Decide(snapshotOf(t, st), placement.Request{Group: "g", MinCount: 1, Pods: []workload.Pod{pod}})
		want := []string{"b", "a"}[len(nominated)]
		if err != nil || d.Outcome != preemption.Fits || len(d.Nominations) != 1 || d.Nominations[0].Node != want {
			t.Errorf("%d promised: %v, %v, %v; want %s", len(nominated), d.Outcome, d.Nominations, err, want)
		}
	}
}

// One pod of a group that was promised room keeps it, though another node comes first.
func TestOnePromiseIsKept(t *testing.T) {
	for node, first := range map[string]string{"a": "b", "b": "a"} {
		pod := workload.Pod{ID: "p", Group: "g", Requests: workload.Resources{"cpu": 1}}
		promised := pod
		promised.Node = node
		st := placement.State{
			Nodes:     []workload.Node{{Name: "a", Capacity: workload.Resources{"cpu": 1}}, {Name: "b", Capacity: workload.Resources{"cpu": 1}}},
			Nominated: []workload.Pod{promised},
			Groups:    []workload.PodGroup{{ID: "g"}},
		}
		d := decided(t, st, placement.Request{Group: "g", MinCount: 1, Pods: []workload.Pod{pod}, Prefer: []string{first}})
		if d.Outcome != preemption.Fits || len(d.Nominations) != 1 || d.Nominations[0].Node != node {
			t.Errorf("%v, %v; promised %s", d.Outcome, d.Nominations, node)
		}
	}
}

// A group that is set again keeps the promises to its pods, each once: who is not of lower
// priority finds what is left, no less.
func TestSetGroupKeepsPromisesOnce(t *testing.T) {
	promised := workload.Pod{ID: "p", Group: "g", Node: "a", Requests: workload.Resources{"cpu": 1}}
	s := snapshotOf(t, placement.State{
		Nodes:     []workload.Node{{Name: "a", Capacity: workload.Resources{"cpu": 2}}},
		Nominated: []workload.Pod{promised},
		Groups:    []workload.PodGroup{{ID: "g", Priority: 5}},
	})
	p, err := placement.New(placement.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if s, err = s.With(placement.SetGroup(workload.PodGroup{ID: "g", Priority: 5})); err != nil {
			t.Fatal(err)
		}
		for cpu, want := range map[int64]preemption.Outcome{1: preemption.Fits, 2: preemption.Impossible} {
			d, err := p.Decide(s, placement.Request{Pods: []workload.Pod{{ID: "other", Requests: workload.Resources{"cpu": cpu}}}})
			if err != nil || d.Outcome != want || len(s.State().Nominated) != 1 {
				t.Errorf("%d beside the promise: %v, %v; want %v", cpu, d.Outcome, err, want)
			}
		}
	}
}

// Once the victim is gone a gang fits where it was promised room, though no order of filling
// nodes finds that.
func TestPromisedGangIsMet(t *testing.T) {
	c := placement.Config{Order: placement.BestFit}
	s := snapshotOf(t, placement.State{
		Nodes: []workload.Node{machine("a", 8), machine("b", 6)},
		Pods:  []workload.Pod{cpu("stays", "a", 1, 4), cpu("victim", "b", 0, 2)},
	})
	r := placement.Request{Group: "in", Priority: 10, MinCount: 3, Pods: []workload.Pod{cpu("x", "", 0, 3), cpu("y", "", 0, 3), cpu("z", "", 0, 4)}}
	d := decide(t, c, s, r)
	if d.Outcome != preemption.Preempt {
		t.Fatalf("%s, want a preemption", text(d))
	}
	s = edit(t, s, d.Edits()...)
	if d = decide(t, c, s, r); d.Outcome != preemption.Wait {
		t.Fatalf("%s while the victim terminates, want Wait", text(d))
	}
	for p := range s.Pods() {
		if p.Terminating {
			s = edit(t, s, placement.Remove(p.ID))
		}
	}
	if d = decide(t, c, s, r); d.Outcome != preemption.Fits || len(d.Nominations) != 3 {
		t.Fatalf("%s once it is gone, want Fits of three", text(d))
	}
}

// What is promised to waiting pods of a group is void when the group yields whole, wherever
// that is.
func TestPromisesOfVictims(t *testing.T) {
	member := cpu("member", "a", 0, 4)
	member.Group = "g"
	waits := cpu("waits", "b", 0, 1)
	waits.Group = "g"
	st := placement.State{
		Nodes: []workload.Node{machine("a", 4), machine("b", 1)}, Pods: []workload.Pod{member}, Nominated: []workload.Pod{waits},
		Groups: []workload.PodGroup{{ID: "g", DisruptionMode: workload.DisruptionModePodGroup}},
	}
	r := placement.Request{Priority: 10, Pods: []workload.Pod{cpu("in", "", 0, 4)}}
	wantText(t, text(decide(t, placement.Config{}, snapshotOf(t, st), r)), "Preempt in@a; evict member; withdraw waits")
	st.Groups[0].DisruptionMode = workload.DisruptionModePod
	wantText(t, text(decide(t, placement.Config{}, snapshotOf(t, st), r)), "Preempt in@a; evict member", "not whole")
}

// A pod keeps apart from who was promised room before it, as from who runs: filters are asked
// about promises to pods of the same or a higher priority, and about no others.
func TestPromisesAndFilters(t *testing.T) {
	web := map[string]string{"app": "web"}
	one := cpu("in", "", 0, 1)
	one.Labels = web
	for _, c := range []struct {
		name     string
		priority int32 // of the promised pod
		cluster  bool
		own      bool // it is the preemptor's
		want     string
	}{
		{"higher", 11, false, false, "Preempt in@b; evict low"},
		{"equal", 10, false, false, "Preempt in@b; evict low"},
		{"lower", 9, false, false, "Fits in@a"},
		{"its own", 10, false, true, "Fits in@a"},
		{"anywhere", 10, true, false, "Impossible (NoRoom)"},
		{"anywhere, lower", 9, true, false, "Fits in@a"},
	} {
		promised := cpu("first", "a", c.priority, 1)
		if c.own {
			promised.ID = "in"
		}
		promised.Labels = web
		s := snapshotOf(t, placement.State{
			Nodes:     []workload.Node{machine("a", 4), machine("b", 4)},
			Pods:      []workload.Pod{cpu("low", "b", 0, 4)},
			Nominated: []workload.Pod{promised},
		})
		config := placement.Config{Filters: []placement.Filter{preemptiontest.Apart{Label: "app", Anywhere: c.cluster}}}
		r := placement.Request{Priority: 10, Pods: []workload.Pod{one}}
		wantText(t, text(decide(t, config, s, r)), c.want, "%s", c.name)
		if r.Group = "gang"; text(decide(t, config, s, r)) != c.want {
			t.Errorf("%s, a gang: %q, want %q", c.name, text(decide(t, config, s, r)), c.want)
		}
	}
}
