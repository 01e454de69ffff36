package placement_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

func wantFaults(t *testing.T, err error, want string) {
	t.Helper()
	var faults fault.List
	if !errors.As(err, &faults) {
		t.Fatalf("%v: want faults", err)
	}
	var lines []string
	for _, f := range faults {
		lines = append(lines, f.Error())
	}
	if got := strings.Join(lines, "\n"); got != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Everything that is wrong with a state is said at once.
func TestFaultsOfState(t *testing.T) {
	_, err := placement.NewSnapshot(placement.State{
		Nodes: []workload.Node{{Name: "n", Capacity: workload.Resources{"cpu": -1, "": 1}}, {Name: "n"}, {}},
		Pods: []workload.Pod{
			{ID: "p", Node: "n", Requests: workload.Resources{"pods": 1, "cpu": math.MaxInt64}},
			{ID: "p", Node: "m", Preempted: true}, {},
			{ID: "old", Node: "n", Started: time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)},
		},
		Nominated: []workload.Pod{{ID: "p", Node: "n", Terminating: true}},
		Groups: []workload.PodGroup{
			{ID: "g"}, {ID: "g"}, {DisruptionMode: 7, MinCount: -1, MinRuntime: quota.Some(time.Duration(-1)), ReclaimMinRuntime: quota.Some(time.Duration(-2))},
		},
		Budgets: []workload.DisruptionBudget{
			{Name: "b", Allowed: -1}, {Name: "b"}, {Namespace: "x", Name: "b"},
			{Selector: &workload.LabelSelector{MatchExpressions: []workload.LabelRequirement{
				{Key: "k", Operator: workload.Gt}, {Operator: workload.Exists}, {Key: "k", Operator: workload.In}, {Key: "k", Operator: workload.Exists, Values: []string{"v"}},
			}}},
		},
	})
	wantFaults(t, err, `
nodes[1]: n is there already: nodes[0]
nodes[0].capacity: a resource without a name
nodes[0].capacity.cpu: -1 is negative
nodes[2].name: is empty
pods[1]: p is there already: pods[0]
pods[0].requests.cpu: 9223372036854775807 is more than 2^62
pods[0].requests.pods: every pod takes one of it: it cannot be requested
pods[1].preempted: the pod does not terminate
pods[1].node: unknown node "m"
pods[2].id: is empty
pods[2].node: is empty
pods[3].started: 0001-01-02 00:00:00 +0000 UTC is not within the years 1678 to 2262
nominated[0].id: "p" runs: pods[0]
nominated[0].terminating: a pod that waits does not terminate
groups[1]: g is there already: groups[0]
groups[2].id: is empty
groups[2].disruptionMode: DisruptionMode(7) is unknown
groups[2].minCount: -1 is negative
groups[2].minRuntime: -1ns is negative
groups[2].reclaimMinRuntime: -2ns is negative
budgets[1]: "b" of namespace "" is there already: budgets[0]
budgets[0].allowed: -1 is negative
budgets[3].name: is empty
budgets[3].selector.matchExpressions[0].operator: Gt is for nodes alone
budgets[3].selector.matchExpressions[1].key: is empty
budgets[3].selector.matchExpressions[2].values: is empty: In needs one at least
budgets[3].selector.matchExpressions[3].values: ["v"]: Exists takes none`)
}

func TestFaultsOfRequest(t *testing.T) {
	s := snapshotOf(t, world(t, "n1 1: a/0", "n2 1:"))
	p := must(placement.New(placement.Config{}))(t)
	for _, ask := range []func(placement.Request) error{
		func(r placement.Request) error { _, err := p.Decide(s, r); return err },
		func(r placement.Request) error { _, err := p.Placements(s, r); return err },
		func(r placement.Request) error { _, err := p.Fit(s, r); return err },
	} {
		wantFaults(t, ask(placement.Request{
			Policy: 9, MinCount: -1,
			Pods: []workload.Pod{
				{ID: "a", Node: "n1", Terminating: true}, {Requests: workload.Resources{"slots": -1}}, {ID: "a"},
			},
			Domains: []placement.Domain{{Nodes: []string{"n1", "n9"}}, {Name: "d", Nodes: []string{"n1"}}, {Name: "d"}},
			Prefer:  []string{"n1", "n1", "n9"},
		}), `
request.policy: PreemptionPolicy(9) is unknown
request.pods: 3 pods without a group
request.minCount: -1 is negative
request.pods[2]: a is there already: request.pods[0]
request.pods[0].id: "a" runs already
request.pods[0].node: "n1": a pod that waits is on no node
request.pods[0].terminating: a pod that waits does not terminate
request.pods[1].id: is empty
request.pods[1].requests.slots: -1 is negative
request.pods[2].id: "a" runs already
request.domains: are for groups: for a single pod every node is one
request.domains[2]: d is there already: request.domains[1]
request.domains[0].name: is empty
request.domains[0].nodes[1]: unknown node "n9"
request.domains[1].nodes[0]: node "n1" is in request.domains[0] already
request.prefer[1]: "n1" is there already
request.prefer[2]: unknown node "n9"`)
		wantFaults(t, ask(placement.Request{}), "request.pods: is empty")
		r := pending(2)
		r.Group = ""
		wantFaults(t, ask(r), "request.pods: 2 pods without a group")
		r = pending(2)
		r.MinCount = 3
		wantFaults(t, ask(r), "request.minCount: 3 of 2 pods")
	}
}

func TestFaultsOfEdits(t *testing.T) {
	s := snapshotOf(t, world(t, "n1 1: a/0/g"))
	before := s.State()
	_, err := s.With(
		placement.Run(workload.Pod{ID: "b", Node: "n9"}), placement.StartEviction("b"), placement.Remove("b"),
		placement.Nominate(workload.Pod{ID: "a", Node: "n1"}), placement.Withdraw("nobody"),
		placement.SetGroup(workload.PodGroup{ID: "g", DisruptionMode: workload.DisruptionModePodGroup, MinRuntime: quota.Some(time.Duration(-1))}), placement.RemoveGroup("h"),
		placement.SetBudget(workload.DisruptionBudget{}), placement.RemoveBudget("x", "budget"),
		placement.SetNode(workload.Node{}), placement.RemoveNode("n1"), placement.RemoveNode("n9"), placement.Edit{},
		placement.Run(workload.Pod{ID: "c", Node: "n1", Requests: workload.Resources{"slots": 1 << 62}}),
	)
	wantFaults(t, err, `
edits[0].node: unknown node "n9"
edits[1]: no pod "b" runs
edits[2]: no pod "b" runs
edits[3]: pod "a" runs
edits[5].minRuntime: -1ns is negative
edits[6]: no group "h"
edits[7].name: is empty
edits[8]: no budget "budget" of namespace "x"
edits[9].name: is empty
edits[10]: 1 pods run on node "n1" or are nominated to it
edits[11]: no node "n9"
edits[13]: more than 2^62 of a resource is used of node "n1"`)
	if got := text(decide(t, placement.Config{}, s, pending(0))); got != "Preempt in0@n1; evict a" || len(s.State().Pods) != len(before.Pods) {
		t.Errorf("after failed edits: %s", got)
	}
}

// A node is removed only if no pod runs on it and none is nominated to it.
func TestRemoveNodeNeedsNoPods(t *testing.T) {
	for _, c := range []struct{ run, promised int }{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {1, 2}} {
		st := world(t, "n1 4:")
		for i := range c.run {
			st.Pods = append(st.Pods, workload.Pod{ID: fmt.Sprint("runs", i), Node: "n1"})
		}
		for i := range c.promised {
			promise(&st, fmt.Sprint("promised", i), "n1", 0)
		}
		_, err := snapshotOf(t, st).With(placement.RemoveNode("n1"))
		if n := c.run + c.promised; n > 0 {
			wantFaults(t, err, fmt.Sprintf(`edits[0]: %d pods run on node "n1" or are nominated to it`, n))
		} else if err != nil {
			t.Error(err)
		}
	}
}

func TestFaultsOfConfig(t *testing.T) {
	_, err := placement.New(placement.Config{Mode: 9, Order: 9, Budgets: 9,
		Filters: []placement.Filter{nil, farFilter{}}, SetFilters: []placement.SetFilter{nil, farTrial{}}, Guards: []placement.Guard{nil}})
	wantFaults(t, err, `
config.Mode: Mode(9) is unknown
config.Order: Order(9) is unknown
config.Budgets: BudgetMode(9) is unknown
config.Filters[0]: is nil
config.Filters[1].Reach: Reach(9) is unknown
config.SetFilters[0]: is nil
config.SetFilters[1].Reach: Reach(9) is unknown
config.Guards[0]: is nil`)
}

// What belongs to one request is checked with it.
func TestFaultsOfTheRequestsRules(t *testing.T) {
	r := pending(0)
	r.MaxDomains, r.FirstNode = -1, -1
	r.Filters, r.SetFilters = []placement.Filter{nil, farFilter{}}, []placement.SetFilter{nil, farTrial{}}
	_, err := new(placement.Preemptor).Decide(nil, r)
	wantFaults(t, err, `
request.Filters[0]: is nil
request.Filters[1].Reach: Reach(9) is unknown
request.SetFilters[0]: is nil
request.SetFilters[1].Reach: Reach(9) is unknown
request.maxDomains: -1 is negative
request.firstNode: -1 is negative`)
}

type farTrial struct{ preemptiontest.Spread }

func (farTrial) Reach() placement.Reach { return 9 }

type farFilter struct{}

func (farFilter) Feasible(workload.Pod, workload.Node) bool { return true }
func (farFilter) Conflict(workload.Pod, workload.Pod) bool  { return false }
func (farFilter) Reach() placement.Reach                    { return 9 }

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "placement: JSON ends early, at offset 0",
		`{"nodes":[`:                             "ends early",
		`{"machines":[]}`:                        `unknown field "machines"`,
		`{} {}`:                                  "text after the JSON value",
		`{"groups":[{"disruptionMode":3}]}`:      "groups[0].disruptionMode: found 3, want a string",
		`{"groups":[{"disruptionMode":"Half"}]}`: `"Half" is unknown: want Pod or PodGroup`,
	} {
		if _, err := placement.ParseState([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := placement.ParseRecord([]byte(`{"request":{"policy":"Always"}}`)); err == nil {
		t.Error("an unknown policy is read")
	}
}

func TestZeroSnapshot(t *testing.T) {
	for _, s := range []*placement.Snapshot{nil, {}} {
		wantText(t, text(decide(t, placement.Config{}, s, pending(0))), "Impossible (NoVictims)")
		if st := s.State(); st.Nodes != nil || len(s.Units()) > 0 {
			t.Errorf("%+v", st)
		}
		edit(t, s, placement.SetNode(workload.Node{Name: "n"}))
	}
	if e := (placement.Decision{}).Edits(); e != nil {
		t.Errorf("the zero decision does %v", e)
	}
}

// Verify judges no decision about a request that Decide refuses.
func TestVerifyRefusesBadInput(t *testing.T) {
	st := world(t, "n1 2: a/1 b/2")
	good := pending(1)
	d := decided(t, st, good)
	verified(t, st, good, placement.Config{}, d)
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
	verified(t, st, r, c, d)
	d.Nominations[0].Node = d.Nominations[1].Node
	if err := verify.Placement(st, r, c, d); err == nil {
		t.Error("two pods of the group on one node")
	}
}
