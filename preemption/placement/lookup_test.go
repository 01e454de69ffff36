package placement_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

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
