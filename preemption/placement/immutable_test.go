package placement_test

import (
	"testing"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

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
request.pods[1].group: "basic" differs from "gang" of the request`)
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
