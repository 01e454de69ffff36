package placement_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/workload"
)

// Budgets and nodes that change under the pods that run make the snapshot that is made at once,
// in any order, with edits of pods between.
func configEditsAreFresh(t *rapid.T) {
	record := preemptiontest.PlacementRecords().Draw(t, "record")
	st, r := record.State, *record.Request
	c := preemptiontest.PlacementConfigs().Draw(t, "config")
	other := preemptiontest.PlacementStates().Draw(t, "other")
	for i := range st.Budgets {
		if b := &st.Budgets[i]; rapid.Bool().Draw(t, "labelled only") {
			if b.LabelledOnly = true; i == 0 {
				b.Name = ""
			}
		}
	}
	before := st
	before.Budgets = other.Budgets
	var extra []placement.Edit
	for i := range rapid.IntRange(0, 3).Draw(t, "extra nodes") {
		n := workload.Node{Name: fmt.Sprintf("%s-extra%d", rapid.SampledFrom([]string{"a", "n0", "z"}).Draw(t, "name"), i)}
		before.Nodes = append(before.Nodes[:len(before.Nodes):len(before.Nodes)], n)
		extra = append(extra, placement.RemoveNode(n.Name))
	}
	var edits []placement.Edit
	for _, b := range other.Budgets {
		edits = append(edits, placement.RemoveBudget(b.Namespace, b.Name))
	}
	for _, b := range st.Budgets {
		first := b
		first.Selector = nil
		edits = append(edits, placement.SetBudget(first))
	}
	for _, p := range st.Pods { // taken away and added again
		if rapid.Bool().Draw(t, "again") {
			edits = append(edits, placement.Remove(p.ID), placement.Run(p))
		}
	}
	for _, b := range st.Budgets {
		edits = append(edits, placement.SetBudget(b))
	}
	edits = append(edits, extra...)
	edits = append(edits, placement.SetNode(workload.Node{Name: "passing"}), placement.RemoveNode("passing"))
	s := snapshotOf(t, before)
	if rapid.Bool().Draw(t, "one by one") {
		for _, e := range edits {
			s = edit(t, s, e)
		}
	} else {
		s = edit(t, s, edits...)
	}
	fresh := snapshotOf(t, st)
	noDiff(t, "another state", fresh.State(), s.State())
	for name, s := range map[string]*placement.Snapshot{"fresh": fresh, "edited": s} {
		t.Log(name)
		agrees(t, c, st, r, decide(t, c, s, r))
	}
	noDiff(t, "other potential victims", new(placement.Preemptor).PotentialVictims(fresh, r.Priority), new(placement.Preemptor).PotentialVictims(s, r.Priority))
}

// Pods that leave one by one leave the others of their priority where they are.
func TestPodsOfOnePriorityLeaveOneByOne(t *testing.T) {
	st := placement.State{Nodes: []workload.Node{machine("n1", 3)}}
	for _, id := range []string{"a", "b", "c"} {
		st.Pods = append(st.Pods, cpu(id, "n1", 0, 1))
	}
	st.Pods = append(st.Pods, cpu("d", "n1", -5, 0))
	s := edit(t, snapshotOf(t, st), placement.Remove("a"))
	s = edit(t, s, placement.Remove("b"))
	r := placement.Request{Group: "g", MinCount: 2, Pods: []workload.Pod{cpu("p", "", 0, 1), cpu("q", "", 0, 2)}, Priority: 10}
	for _, mode := range allModes {
		c := placement.Config{Mode: mode}
		want := decide(t, c, snapshotOf(t, s.State()), r)
		if diff := differ(want, decide(t, c, s, r)); diff != "" || want.Outcome != preemption.Preempt {
			t.Errorf("%v: %v (- fresh, + edited):\n%s", mode, want.Outcome, diff)
		}
	}
}

// A node is added at a cost that does not depend on the pods; a budget that covers other pods
// costs as much as these.
func TestEditsCostWhatTheyChange(t *testing.T) {
	skipInRace(t)
	for name, test := range map[string]struct {
		edit placement.Edit
		most float64
	}{
		"node":   {placement.SetNode(workload.Node{Name: "node-000001a", Capacity: workload.Resources{"cpu": 1}}), 60},
		"budget": {placement.SetBudget(workload.DisruptionBudget{Namespace: "ns", Name: "new", Selector: &workload.LabelSelector{MatchLabels: map[string]string{"app": "none"}}}), 40},
	} {
		for _, nodes := range []int{100, 800} {
			s := snapshotOf(t, fleet{nodes: nodes, perNode: 10, levels: 3, covered: 5}.state())
			if n := testing.AllocsPerRun(10, func() { edit(t, s, test.edit) }); n > test.most {
				t.Errorf("%s: %v allocations at %d nodes, want at most %v", name, n, nodes, test.most)
			}
		}
	}
}

// "A pod with no labels will not match any PDB"; "a PDB with a nil or empty selector matches
// nothing" (kube-scheduler, filterPodsWithPDBViolation). The disruption controller sees it
// otherwise.
func TestLabelledOnly(t *testing.T) {
	none := &workload.LabelSelector{MatchExpressions: []workload.LabelRequirement{{Key: "app", Operator: workload.DoesNotExist}}}
	for _, test := range []struct {
		selector *workload.LabelSelector
		labels   map[string]string
		want     [2]int // violations; with LabelledOnly
	}{
		{&workload.LabelSelector{}, nil, [2]int{1, 0}},
		{&workload.LabelSelector{}, map[string]string{"a": "b"}, [2]int{1, 0}},
		{none, nil, [2]int{1, 0}},
		{none, map[string]string{"a": "b"}, [2]int{1, 1}},
		{nil, map[string]string{"a": "b"}, [2]int{0, 0}},
	} {
		for i, only := range []bool{false, true} {
			st := world(t, "n1 1: a/1")
			st.Pods[0].Labels = test.labels
			st.Budgets = []workload.DisruptionBudget{{Name: "b", Selector: test.selector, LabelledOnly: only}}
			if only {
				st.Budgets[0].Name = ""
			}
			if d := decide(t, placement.Config{}, snapshotOf(t, st), pending(0)); d.Violations != test.want[i] {
				t.Errorf("%+v, %v, only labelled %v: %d violations, want %d", test.selector, test.labels, only, d.Violations, test.want[i])
			}
		}
	}
}
