package placement_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// What a JSON round trip keeps is all there is of a decision: its edits are the same.
func decisionsArePlain(t *rapid.T) {
	st, _, _, d := draw(t)
	data := must(json.Marshal(d))(t)
	var read placement.Decision
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	noDiff(t, "another decision is read", d, read)
	s := snapshotOf(t, st)
	noDiff(t, "its edits are others", edit(t, s, d.Edits()...).State(), edit(t, s, read.Edits()...).State())
}

// A node, pods and a group that have nothing to do with the request change nothing.
func strangersChangeNothing(t *rapid.T) {
	st, r, c, d := draw(t)
	more := st
	node := workload.Node{Name: rapid.SampledFrom([]string{"a", "n00", "z"}).Draw(t, "stranger"), Capacity: workload.Resources{"cpu": 8}}
	node.Unschedulable = r.Group == "" || isBasic(c, st, r) || len(r.Domains) == 0 || rapid.Bool().Draw(t, "unschedulable")
	more.Nodes = append(slices.Clone(st.Nodes), node)
	for i := range rapid.SampledFrom([]int{0, 40}).Draw(t, "nodes out of use") { // a large cluster goes other ways
		more.Nodes = append(more.Nodes, workload.Node{Name: fmt.Sprintf("out%02d", i), Unschedulable: true})
	}
	more.Pods = slices.Clone(st.Pods)
	group := workload.PodGroup{ID: "stranger", Priority: rapid.Int32Range(-9, 9).Draw(t, "group priority")}
	if rapid.Bool().Draw(t, "whole") {
		group.DisruptionMode = workload.DisruptionModePodGroup
	}
	more.Groups = append(slices.Clone(st.Groups), group)
	for i := range rapid.IntRange(0, 4).Draw(t, "strangers") {
		p := workload.Pod{ID: fmt.Sprintf("o%d", i), Node: node.Name, Requests: workload.Resources{"cpu": 1, "disk": 1}}
		p.Priority = rapid.Int32Range(-9, 9).Draw(t, "priority")
		p.Terminating = rapid.Bool().Draw(t, "terminating")
		if rapid.Bool().Draw(t, "grouped") {
			p.Group = group.ID
		}
		if rapid.Bool().Draw(t, "runs") {
			more.Pods = append(more.Pods, p)
		} else {
			p.Terminating = false
			more.Nominated = append(slices.Clone(more.Nominated), p)
		}
	}
	more.Budgets = append(slices.Clone(st.Budgets), workload.DisruptionBudget{Namespace: "other", Name: "b", Selector: &workload.LabelSelector{}})
	noDiff(t, "another decision (+ with strangers)", d, decide(t, c, snapshotOf(t, more), r))
}

// A pod of a basic group is decided about alike by itself and as the group, and stays in it.
func onePodIsOnePod(t *rapid.T) {
	st, r, c, _ := draw(t)
	at := slices.IndexFunc(st.Groups, func(g workload.PodGroup) bool { return g.Basic })
	if at < 0 || c.Mode == placement.ModeInPlace { // there a group has the cluster as its domain
		return
	}
	group := st.Groups[at]
	root, _ := rootOf(st, group.ID)
	r.Queue = root.Queue
	r = withoutNeeds(r)
	r.Group, r.Priority, r.Pods = group.ID, root.Priority, slices.Clone(r.Pods[:1])
	r.Pods[0].Group, r.Pods[0].Priority = group.ID, 0
	together := decide(t, c, snapshotOf(t, st), r)
	r.Group = ""
	alone := decide(t, c, snapshotOf(t, st), r)
	alone.Domain = ""
	if together.Outcome == preemption.Fits {
		alone.Domain = together.Domain
	}
	noDiff(t, "- alone, + together", alone, together)
	for p := range edit(t, snapshotOf(t, st), alone.Edits()...).Pods() {
		if p.ID == r.Pods[0].ID && p.Group != group.ID {
			t.Fatalf("it runs in group %q", p.Group)
		}
	}
}

// cpu is a pod in few words.
func cpu(id, node string, priority int32, amount int64) workload.Pod {
	return workload.Pod{ID: id, Node: node, Priority: priority, Requests: workload.Resources{"cpu": amount}}
}

func machine(name string, amount int64) workload.Node {
	return workload.Node{Name: name, Capacity: workload.Resources{"cpu": amount}}
}

var allModes = []placement.Mode{placement.ModeDesign, placement.ModeInPlace}
