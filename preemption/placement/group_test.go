package placement_test

import (
	"testing"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// The best domain is found whatever the first member of the group needs.
func TestUnequalMembers(t *testing.T) {
	st := placement.State{
		Nodes: []workload.Node{machine("a", 4), machine("b", 4)},
		Pods:  []workload.Pod{cpu("mid", "a", 5, 4), cpu("low", "b", 0, 1), cpu("high", "b", 9, 3)},
	}
	large, small := cpu("large", "", 0, 8), cpu("small", "", 0, 1)
	for _, mode := range allModes {
		for _, pods := range [][]workload.Pod{{large, small}, {small, large}} {
			r := placement.Request{Group: "in", Priority: 10, MinCount: 1, Pods: pods,
				Domains: []placement.Domain{{Name: "x", Nodes: []string{"a"}}, {Name: "y", Nodes: []string{"b"}}}}
			want := "Preempt small@b; evict low"
			if mode == placement.ModeInPlace { // the first domain with room, whatever runs there
				want = "Preempt small@a; evict mid"
			}
			wantText(t, text(decide(t, placement.Config{Mode: mode}, snapshotOf(t, st), r)), want, "%v, %s first", mode, pods[0].ID)
		}
	}
}

// The same where a budget keeps a unit: then fewer members are placed, for less.
func TestUnequalMembersWithBudgets(t *testing.T) {
	x := cpu("x", "b", 1, 2)
	x.Labels = map[string]string{"app": "x"}
	st := placement.State{
		Nodes:   []workload.Node{machine("a", 4), machine("b", 3)},
		Pods:    []workload.Pod{cpu("p0", "a", 0, 4), x, cpu("y", "b", -1, 1)},
		Budgets: []workload.DisruptionBudget{{Name: "b", Selector: &workload.LabelSelector{MatchLabels: x.Labels}}},
	}
	r := placement.Request{Group: "in", Priority: 10, MinCount: 1, Pods: []workload.Pod{cpu("two", "", 0, 2), cpu("one", "", 0, 1)},
		Domains: []placement.Domain{{Name: "a", Nodes: []string{"a"}}, {Name: "b", Nodes: []string{"b"}}}}
	for _, mode := range allModes {
		c := placement.Config{Mode: mode, Budgets: placement.Hard}
		want := "Preempt one@b; evict y"
		if mode == placement.ModeInPlace {
			want = "Preempt two@a one@a; evict p0"
		}
		wantText(t, text(decide(t, c, snapshotOf(t, st), r)), want, "%v", mode)
	}
}

// The lowest priority that suffices is searched for on one node too: there another member
// may have the place.
func TestLowestPriorityOnOneNode(t *testing.T) {
	st := placement.State{Nodes: []workload.Node{machine("a", 4)}, Pods: []workload.Pod{cpu("low", "a", 0, 1), cpu("mid", "a", 5, 3)}}
	r := placement.Request{Group: "in", Priority: 10, Pods: []workload.Pod{cpu("large", "", 0, 4), cpu("small", "", 0, 1)}}
	for mode, want := range map[placement.Mode]string{
		placement.ModeDesign:  "Preempt small@a; evict low",
		placement.ModeInPlace: "Preempt large@a; evict low mid",
	} {
		wantText(t, text(decide(t, placement.Config{Mode: mode}, snapshotOf(t, st), r)), want, "%v", mode)
	}
}

// Pods of a basic group are decided about one by one, with nodes as their domains.
func TestBasicGroup(t *testing.T) {
	st := placement.State{
		Nodes:  []workload.Node{machine("a", 4), machine("b", 4), machine("c", 4)},
		Pods:   []workload.Pod{cpu("cheap", "b", 0, 4), cpu("dear", "a", 0, 2), cpu("dearer", "a", 0, 2), cpu("high", "c", 20, 4)},
		Groups: []workload.PodGroup{{ID: "basic", Priority: 10, Basic: true}},
	}
	r := placement.Request{Group: "basic", Priority: 10, Pods: []workload.Pod{cpu("in0", "", 0, 4), cpu("in1", "", 0, 4), cpu("in2", "", 0, 4)}}
	d := decide(t, placement.Config{}, snapshotOf(t, st), r)
	wantText(t, text(d), "Preempt in0@b in1@a; evict cheap dear dearer")
	st.Pods = st.Pods[1:] // one fits: it comes first, and nobody yields
	d = decide(t, placement.Config{}, snapshotOf(t, st), r)
	wantText(t, text(d), "Fits in0@b")
	r.Group, r.Pods = "", r.Pods[:1]
	r.Pods[0].Group = "basic"
	s := edit(t, snapshotOf(t, st), decide(t, placement.Config{}, snapshotOf(t, st), r).Edits()...)
	if p := s.State().Pods[3]; p.ID != "in0" || p.Group != "basic" || p.Priority != 10 {
		t.Errorf("%+v, want in0 in its group", p)
	}
}

// With hard budgets the victims of one pod count for the next.
func TestBasicGroupKeepsBudgets(t *testing.T) {
	st := placement.State{
		Nodes:   []workload.Node{machine("a", 4), machine("b", 4)},
		Pods:    []workload.Pod{cpu("p", "a", 0, 4), cpu("q", "b", 0, 4)},
		Groups:  []workload.PodGroup{{ID: "basic", Priority: 10, Basic: true}},
		Budgets: []workload.DisruptionBudget{{Name: "one", Allowed: 1, Selector: &workload.LabelSelector{}}},
	}
	r := placement.Request{Group: "basic", Priority: 10, Pods: []workload.Pod{cpu("in0", "", 0, 4), cpu("in1", "", 0, 4)}}
	wantText(t, text(decide(t, placement.Config{Budgets: placement.Hard}, snapshotOf(t, st), r)), "Preempt in0@a; evict p")
	wantText(t, text(decide(t, placement.Config{}, snapshotOf(t, st), r)), "Preempt in0@a in1@b; evict p q, 1 against a budget", "soft")
}

// A basic group of mode PodGroup yields whole (kube-scheduler v1.37, TestPodGroupPreemption, "Preempt the whole basic
// PodGroup with a PodGroup disruption mode").
func TestBasicGroupYieldsWhole(t *testing.T) {
	st := placement.State{
		Nodes:  []workload.Node{machine("node1", 3)},
		Pods:   []workload.Pod{cpu("low-1", "node1", 10, 1), cpu("low-2", "node1", 10, 1), cpu("low-3", "node1", 10, 1)},
		Groups: []workload.PodGroup{{ID: "pg1", Priority: 100}, {ID: "pg2", Priority: 10, Basic: true, DisruptionMode: workload.DisruptionModePodGroup}},
	}
	for i := range st.Pods {
		st.Pods[i].Group = "pg2"
	}
	r := placement.Request{Group: "pg1", Priority: 100, MinCount: 1, Pods: []workload.Pod{cpu("high-1", "", 0, 1)}}
	for _, mode := range allModes {
		wantText(t, text(decide(t, placement.Config{Mode: mode}, snapshotOf(t, st), r)), "Preempt high-1@node1; evict low-1 low-2 low-3", "%v", mode)
	}
}

// As a preemptor its pods are decided about one by one, as those of any basic group (the same test, "Basic scheduling: preempt a
// pod group victim but do not schedule full pod group").
func TestBasicGroupThatYieldsWholePreempts(t *testing.T) {
	whole := workload.DisruptionModePodGroup
	st := placement.State{
		Groups: []workload.PodGroup{
			{ID: "victim-pg", Priority: 50, DisruptionMode: whole}, {ID: "victim-pg2", Priority: 200, DisruptionMode: whole},
			{ID: "preemptor-pg", Priority: 100, Basic: true, DisruptionMode: whole},
		},
	}
	for i, group := range []string{"victim-pg", "victim-pg", "victim-pg2", "victim-pg2"} {
		name := string(rune('1' + i))
		st.Nodes = append(st.Nodes, machine("node"+name, 1))
		p := cpu("v"+name, "node"+name, 0, 1)
		p.Group = group
		st.Pods = append(st.Pods, p)
	}
	r := placement.Request{Group: "preemptor-pg", Priority: 100, Pods: []workload.Pod{cpu("p-a", "", 0, 1), cpu("p-b", "", 0, 1), cpu("p-c", "", 0, 1)}}
	for _, mode := range allModes {
		wantText(t, text(decide(t, placement.Config{Mode: mode}, snapshotOf(t, st), r)), "Preempt p-a@node1 p-b@node2; evict v1 v2", "%v", mode)
	}
}

// KEP-5710: the priority and the disruption mode of a group are immutable.
func TestGroupsAreImmutable(t *testing.T) {
	member := cpu("runs", "a", 0, 1)
	member.Group = "runs"
	waits := cpu("waits", "a", 0, 1)
	waits.Group = "waits"
	unknown := cpu("early", "a", 0, 1)
	unknown.Group = "early"
	s := snapshotOf(t, placement.State{
		Nodes: []workload.Node{machine("a", 4)}, Pods: []workload.Pod{member, unknown}, Nominated: []workload.Pod{waits},
		Groups: []workload.PodGroup{{ID: "runs", Priority: 1}, {ID: "waits", Priority: 1}, {ID: "empty", Priority: 1}},
	})
	whole := workload.DisruptionModePodGroup
	next, err := s.With(
		placement.SetGroup(workload.PodGroup{ID: "runs", Priority: 2}),
		placement.SetGroup(workload.PodGroup{ID: "runs", Priority: 1, DisruptionMode: whole}),
		placement.SetGroup(workload.PodGroup{ID: "waits", Priority: 2, DisruptionMode: whole}),
		placement.SetGroup(workload.PodGroup{ID: "runs", Priority: 1, Basic: true}), // from here on fine
		placement.SetGroup(workload.PodGroup{ID: "empty", Priority: 2, DisruptionMode: whole}),
		placement.SetGroup(workload.PodGroup{ID: "early", Priority: 2, DisruptionMode: whole}),
	)
	wantFaults(t, err, `
edits[0].priority: 2 is not the 1 that it is: fixed while the group has pods (1)
edits[1].disruptionMode: PodGroup is not the Pod that it is: fixed while the group has pods (1)
edits[2].priority: 2 is not the 1 that it is: fixed while the group has pods (1)
edits[2].disruptionMode: PodGroup is not the Pod that it is: fixed while the group has pods (1)`)
	if next != s {
		t.Error("not the receiver")
	}
	edit(t, s, placement.Remove("runs"), placement.SetGroup(workload.PodGroup{ID: "runs", Priority: 2, DisruptionMode: whole}))
	edit(t, s, placement.Withdraw("waits"), placement.SetGroup(workload.PodGroup{ID: "waits", Priority: 2}))
}

// A request has the priority of its group, and asks about it as what it is. Of its pods only the group
// must match.
func TestRequestsMatchTheirGroup(t *testing.T) {
	s := snapshotOf(t, placement.State{
		Nodes:  []workload.Node{machine("a", 4)},
		Groups: []workload.PodGroup{{ID: "gang", Priority: 5}, {ID: "basic", Priority: 5, Basic: true}},
	})
	ask := func(r placement.Request) error {
		_, err := new(placement.Preemptor).Decide(s, r)
		return err
	}
	one, other := cpu("one", "", 7, 1), cpu("other", "", 5, 1)
	other.Group = "basic"
	wantFaults(t, ask(placement.Request{Group: "gang", Priority: 5, Pods: []workload.Pod{one, other}}), `
request.pods[1].group: "basic" is neither "gang" nor below it`)
	wantFaults(t, ask(placement.Request{Group: "gang", Priority: 7, Pods: []workload.Pod{one}}), `request.priority: 7 differs from 5 of group "gang"`)
	wantFaults(t, ask(placement.Request{Priority: 7, Pods: []workload.Pod{{ID: "p", Group: "basic"}}}), `request.priority: 7 differs from 5 of group "basic"`)
	wantFaults(t, ask(placement.Request{
		Group: "basic", Priority: 5, MinCount: 2, Pods: []workload.Pod{other, {ID: "p"}}, Domains: []placement.Domain{{Name: "d"}},
		TerminationTimeout: 1,
	}), `
request.now: is needed for the termination timeout
request.minCount: 2: group "basic" is basic, each of its pods is placed by itself
request.domains: are for gangs: for each pod of the basic group "basic" every node is one`)
	wantFaults(t, ask(placement.Request{Pods: []workload.Pod{{ID: "p"}}, TerminationTimeout: -1}), `request.terminationTimeout: -1ns is negative`)
	if err := ask(placement.Request{Group: "basic", Priority: 5, MinCount: 1, Pods: []workload.Pod{other, {ID: "p"}}}); err != nil {
		t.Error(err)
	}
	if _, err := new(placement.Preemptor).Placements(s, placement.Request{Group: "basic", Priority: 5, Pods: []workload.Pod{other, {ID: "p"}}}); err == nil {
		t.Error("candidates of two pods")
	}
	if err := ask(placement.Request{Group: "gang", Priority: 5, Pods: []workload.Pod{{ID: "p", Priority: 5, Group: "gang"}, {ID: "q"}}}); err != nil {
		t.Error(err)
	}
	_, err := placement.NewSnapshot(placement.State{Nodes: []workload.Node{machine("a", 4)}, Pods: []workload.Pod{{ID: "p", Node: "a", TerminatingSince: one.Started.AddDate(2020, 0, 0)}}})
	wantFaults(t, err, `pods[0].terminatingSince: the pod does not terminate`)
}
