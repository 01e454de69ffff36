package placement_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/workload"
)

// Verify judges no decision about a request that Decide refuses.
func TestVerifyRefusesBadInput(t *testing.T) {
	st := world(t, "n1 2: a/1 b/2")
	good := pending(1)
	d := decided(t, st, good)
	if err := verify.Placement(st, good, placement.Config{}, d); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*placement.Request){
		"request.pods: is empty":                                                          func(r *placement.Request) { r.Pods = nil },
		"request.pods[0].requests.slots: -1 is negative":                                  func(r *placement.Request) { r.Pods[0].Requests = workload.Resources{"slots": -1} },
		"request.now: 9999-01-01 00:00:00 +0000 UTC is not within the years 1678 to 2262": func(r *placement.Request) { r.Now = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		r := pending(1)
		change(&r)
		wantFaults(t, verify.Placement(st, r, placement.Config{}, d), want)
	}
}

// inGroups lets pods of groups alone run, and two of one group never side by side.
type inGroups struct{}

func (inGroups) Reach() placement.Reach                        { return placement.ReachNode }
func (inGroups) Feasible(p workload.Pod, _ workload.Node) bool { return p.Group != "" }
func (inGroups) Conflict(p, other workload.Pod) bool           { return p.Group == other.Group }

// Verify asks filters about the pods of a request as Decide does: with the request's group.
func TestVerifyAsksAboutTheGroup(t *testing.T) {
	st := placement.State{
		Nodes:  []workload.Node{machine("a", 4), machine("b", 4)},
		Groups: []workload.PodGroup{{ID: "gang", Priority: 1}},
	}
	r := placement.Request{Group: "gang", Priority: 1, Pods: []workload.Pod{{ID: "one", Requests: workload.Resources{"cpu": 1}}, {ID: "two", Requests: workload.Resources{"cpu": 1}}}}
	c := placement.Config{Filters: []placement.Filter{inGroups{}}}
	d := decide(t, c, snapshotOf(t, st), r)
	if d.Outcome != preemption.Fits || len(d.Nominations) != 2 || d.Nominations[0].Node == d.Nominations[1].Node {
		t.Fatal(text(d))
	}
	if err := verify.Placement(st, r, c, d); err != nil {
		t.Error(err)
	}
	d.Nominations[0].Node = d.Nominations[1].Node
	if err := verify.Placement(st, r, c, d); err == nil {
		t.Error("two pods of the group on one node")
	}
}
