package placement_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/workload"
)

// What is looked up is what the state has, in copies that are the caller's.
func TestLookUps(t *testing.T) { rapid.Check(t, lookUpsAreTheState) }

func lookUpsAreTheState(t *rapid.T) {
	st := preemptiontest.PlacementStates().Draw(t, "state")
	s := snapshotOf(t, st)
	slices.SortFunc(st.Nodes, func(a, b workload.Node) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(st.Pods, func(a, b workload.Pod) int { return strings.Compare(a.ID, b.ID) })
	same := func(what string, want, got any, ok bool) {
		if diff := differ(want, got); !ok || diff != "" {
			t.Fatalf("%s: %v\n%s", what, ok, diff)
		}
	}
	same("nodes", st.Nodes, slices.Collect(s.Nodes()), true)
	same("pods", st.Pods, slices.Collect(s.Pods()), true)
	var terminating []string
	for _, n := range st.Nodes {
		got, ok := s.Node(n.Name)
		same("node "+n.Name, n, got, ok)
		var on []workload.Pod
		for _, p := range st.Pods {
			if p.Node == n.Name {
				on = append(on, p)
				if p.Terminating {
					terminating = append(terminating, p.ID)
				}
			}
		}
		same("pods on "+n.Name, on, slices.Collect(s.PodsOn(n.Name)), true)
	}
	same("terminating", terminating, s.Terminating(), true)
	for _, p := range st.Pods {
		got, ok := s.Find(p.ID)
		same("pod "+p.ID, p, got, ok)
		got.Requests["cpu"] = -1
		again, _ := s.Find(p.ID)
		same("pod "+p.ID, p, again, true)
	}
	for n := range s.Nodes() { // copies of the caller's, and a loop that breaks
		n.Capacity["cpu"] = -1
		again, ok := s.Node(n.Name)
		same("node "+n.Name, st.Nodes[0], again, ok)
		break
	}
	for p := range s.Pods() {
		p.Requests["cpu"] = -1
		again, ok := s.Find(p.ID)
		same("pod "+p.ID, st.Pods[0], again, ok)
		break
	}
	for _, p := range st.Nominated {
		got, ok := s.Nominated(p.ID)
		same("nominated "+p.ID, p, got, ok)
	}
	for _, g := range st.Groups {
		got, ok := s.Group(g.ID)
		same("group "+g.ID, g, got, ok)
	}
	for _, s := range []*placement.Snapshot{nil, s} {
		_, pod := s.Find("nobody")
		_, waits := s.Nominated("nobody")
		_, node := s.Node("nowhere")
		_, group := s.Group("nobodies")
		if pod || waits || node || group || len(slices.Collect(s.PodsOn("nowhere"))) > 0 {
			t.Fatal("who is not there is found")
		}
	}
}

// What fails leaves the receiver, and nothing panics that was not made.
func TestZeroAndNil(t *testing.T) {
	s := snapshotOf(t, placement.State{Nodes: []workload.Node{machine("a", 4)}})
	if next, err := s.With(placement.Remove("nobody")); err == nil || next != s {
		t.Errorf("a failed edit returns %p with %v, want the receiver", next, err)
	}
	if next, err := (*placement.Snapshot)(nil).With(placement.Remove("nobody")); err == nil || next != nil {
		t.Errorf("%v, %v", next, err)
	}
	r := placement.Request{Pods: []workload.Pod{cpu("in", "", 0, 1)}}
	for name, p := range map[string]*placement.Preemptor{"nil": nil, "zero": new(placement.Preemptor)} {
		if d, err := p.Decide(s, r); err != nil || d.Outcome != preemption.Fits {
			t.Errorf("the %s preemptor: %v, %v, want Fits", name, d.Outcome, err)
		}
		if list, err := p.Placements(s, r); err != nil || len(list) != 0 {
			t.Errorf("the %s preemptor: %v, %v, want no candidates", name, list, err)
		}
		if fit, err := p.Fit(s, r); err != nil || !fit.Fits() {
			t.Errorf("the %s preemptor: %v: want that it fits", name, err)
		}
	}
	if d, err := new(placement.Preemptor).Decide(nil, r); err != nil || d.Outcome != preemption.Impossible {
		t.Errorf("on a nil snapshot: %v, %v, want Impossible", d.Outcome, err)
	}
	for _, fit := range []*placement.Fit{nil, {}} {
		fit.Remove("g")
		fit.Restore("g")
		if fit.Fits() || fit.Nominations() != nil {
			t.Error("a fit that was not made fits")
		}
	}
	if len(placement.Decision{}.Edits()) > 0 {
		t.Error("the zero decision has edits")
	}
}

// Empty lists and nil ones are the same.
func TestEmptyIsNil(t *testing.T) {
	s := snapshotOf(t, placement.State{Nodes: []workload.Node{machine("a", 4)}})
	for _, r := range []placement.Request{
		{Pods: []workload.Pod{{ID: "in", Nodes: []string{}}}, Domains: []placement.Domain{}},
		{Group: "g", Pods: []workload.Pod{{ID: "in", Nodes: []string{}}}, Domains: []placement.Domain{}, Prefer: []string{}},
	} {
		if d := decide(t, placement.Config{}, s, r); d.Outcome != preemption.Fits {
			t.Errorf("group %q: %s, want Fits", r.Group, text(d))
		}
	}
	r := placement.Request{Pods: []workload.Pod{{ID: "in", Nowhere: true, Nodes: []string{"a"}}}}
	if d := decide(t, placement.Config{}, s, r); d.Outcome != preemption.Impossible {
		t.Errorf("nowhere: %s, want Impossible", text(d))
	}
}

// Potential victims are of strictly lower priority: those first that violate a budget, of
// both kinds the most important first.
func TestPotentialVictims(t *testing.T) {
	s := snapshotOf(t, world(t, "n1 9: a/1/protected b/2 c/3/protected d/10 e/1/g f/1/g/protected"))
	var got []string
	for _, p := range new(placement.Preemptor).PotentialVictims(s, 10) {
		got = append(got, fmt.Sprintf("%s %d %d", p.Pods[0].ID, len(p.Pods), p.Violations))
	}
	if want := "[c 1 1 e 2 1 a 1 1 b 1 0]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
}
