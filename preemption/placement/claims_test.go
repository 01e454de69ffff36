package placement_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// devices has node "n1" with two devices of one class, held by claim "shared" of pods "a" and "b" and claim "own" of "c"; and
// node "n2" with none.
func devices() placement.State {
	st := placement.State{
		Nodes: []workload.Node{machine("n1", 9), machine("n2", 9)},
		Pods:  []workload.Pod{cpu("a", "n1", 1, 1), cpu("b", "n1", 2, 1), cpu("c", "n1", 3, 1)},
		Claims: []workload.Claim{
			{ID: "shared", Requests: workload.Resources{"gpu": 1}}, {ID: "own", Requests: workload.Resources{"gpu": 1}},
			{ID: "new", Requests: workload.Resources{"gpu": 1}}, {ID: "large", Requests: workload.Resources{"gpu": 2}},
		},
	}
	st.Nodes[0].Capacity["gpu"] = 2
	st.Pods[0].Claims, st.Pods[1].Claims, st.Pods[2].Claims = []string{"shared"}, []string{"shared"}, []string{"own"}
	return st
}

// "It takes its amounts once on a node, from the first of its pods there until the last has left."
func TestClaimsOfDevices(t *testing.T) {
	for name, test := range map[string]struct {
		claims   []string
		priority int32
		change   func(st *placement.State)
		want     string
	}{
		"the last pod must leave":    {[]string{"new"}, 9, nil, "Preempt in0@n1; evict a b"},
		"one pod of two is too much": {[]string{"new"}, 2, nil, "Impossible (NoRoom)"},
		"both claims":                {[]string{"large"}, 9, nil, "Preempt in0@n1; evict a b c"},
		"a claim that is there":      {[]string{"shared"}, 1, nil, "Fits in0@n1"},
		"only where the claim is": {[]string{"shared"}, 1, func(st *placement.State) {
			st.Nodes[0].Unschedulable = true
		}, "Impossible (NoVictims)"},
		"both, one of them there":     {[]string{"shared", "new"}, 9, nil, "Preempt in0@n1; evict c"},
		"no claim":                    {nil, 9, nil, "Fits in0@n1"},
		"a free device":               {[]string{"new"}, 1, func(st *placement.State) { st.Nodes[1].Capacity["gpu"] = 1 }, "Fits in0@n2"},
		"a protected holder keeps it": {[]string{"new"}, 9, func(st *placement.State) { st.Pods[1].Priority = 50 }, "Preempt in0@n1; evict c"},
		"a nominated pod holds it": {[]string{"new"}, 9, func(st *placement.State) {
			p := cpu("waiting", "n1", 9, 1)
			p.Claims = []string{"shared"}
			st.Nominated = []workload.Pod{p}
		}, "Preempt in0@n1; evict c"},
		"a whole group holds it": {[]string{"new"}, 9, func(st *placement.State) {
			st.Groups = []workload.PodGroup{{ID: "g", Priority: 1, DisruptionMode: whole}}
			st.Pods[0].Group, st.Pods[1].Group = "g", "g"
		}, "Preempt in0@n1; evict a b"},
		"what terminates goes first": {[]string{"new"}, 9, func(st *placement.State) {
			st.Pods[0].Terminating, st.Pods[0].Preempted = true, true
			st.Pods[1].Terminating, st.Pods[1].Preempted = true, true
		}, ""},
	} {
		for _, mode := range allModes {
			st := devices()
			if test.change != nil {
				test.change(&st)
			}
			in := cpu("in0", "", 0, 1)
			in.Claims = test.claims
			d := judged(t, placement.Config{Mode: mode}, st, placement.Request{Priority: test.priority, Pods: []workload.Pod{in}})
			want := test.want
			if want == "" {
				if want = "Preempt in0@n1; evict a b"; mode == placement.ModeDesign {
					want = "Wait in0@n1"
				}
			}
			wantText(t, text(d), want, "%s, %v", name, mode)
		}
	}
}

// The pods of a group with one claim go to one node, and take it once.
func TestClaimOfAGroup(t *testing.T) {
	for _, mode := range allModes {
		st := devices()
		st.Nodes[1].Capacity["gpu"], st.Nodes[1].Capacity["cpu"] = 2, 2
		r := placement.Request{Group: "in", Priority: 1, MinCount: 2, Prefer: []string{"n2"}}
		for _, id := range []string{"in0", "in1", "in2"} {
			p := cpu(id, "", 0, 1)
			p.Claims = []string{"large"}
			r.Pods = append(r.Pods, p)
		}
		wantText(t, text(judged(t, placement.Config{Mode: mode}, st, r)), "Fits in0@n2 in1@n2", "%v", mode) // n1 would be another node
		r.MinCount, r.Priority = 3, 9
		wantText(t, text(judged(t, placement.Config{Mode: mode}, st, r)), "Impossible (NoRoom)", "%v", mode) // the first node is n2
		r.Domains = []placement.Domain{{Name: "n2", Nodes: []string{"n2"}}, {Name: "n1", Nodes: []string{"n1"}}}
		wantText(t, text(judged(t, placement.Config{Mode: mode}, st, r)), "Preempt in0@n1 in1@n1 in2@n1; evict a b c", "%v", mode)
	}
}

// Devices are in the shortage of a pod, and pods that hold them in the way.
func TestShortageOfDevices(t *testing.T) {
	in := cpu("in0", "", 0, 1)
	in.Claims = []string{"large"}
	st := devices()
	st.Pods[1].Priority = 50
	d := judged(t, placement.Config{}, st, placement.Request{Priority: 9, Pods: []workload.Pod{in}})
	want := placement.Shortage{Resource: "gpu", Missing: 1, Domains: 2}
	if d.Outcome != preemption.Impossible || len(d.Shortage) != 1 || d.Shortage[0] != want {
		t.Errorf("%+v", d.Shortage)
	}
	if len(d.Blockers) != 1 || d.Blockers[0].Pod != "b" {
		t.Errorf("%+v", d.Blockers)
	}
}

// All faults of claims are said, by a snapshot, by edits, and of a request.
func TestFaultsOfClaims(t *testing.T) {
	st := devices()
	odd := workload.Resources{"": 1, "pods": 1, "a": -1, "b": 1<<40 + 1, "c": 1<<62 + 1}
	st.Claims = append(st.Claims, workload.Claim{}, workload.Claim{ID: "own", Requests: odd})
	st.Pods[0].Claims = []string{"", "none", "shared", "shared"}
	_, err := placement.NewSnapshot(st)
	wantFaults(t, err, `
pods[0].claims[0]: is empty
pods[0].claims[3]: "shared" is there already: claims[2]
claims[5]: own is there already: claims[1]
claims[4].id: is empty
claims[5].requests: a resource without a name
claims[5].requests.a: -1 is negative
claims[5].requests.c: 4611686018427387905 is more than 2^62
claims[5].requests.b: 1099511627777 is more than 2^40
claims[5].requests.pods: every pod takes one of it: it cannot be requested
pods[0].claims[1]: unknown claim "none"`)
	for want, k := range map[string]workload.Claim{
		`claims[4]: own is there already: claims[1]`: {ID: "own"}, `claims[4].id: is empty`: {},
	} {
		st := devices()
		st.Claims = append(st.Claims, k)
		_, err := placement.NewSnapshot(st)
		wantFaults(t, err, want)
	}
	s := snapshotOf(t, devices())
	lost := cpu("lost", "n1", 0, 1)
	lost.Claims = []string{"none"}
	_, err = s.With(placement.Run(lost), placement.Nominate(lost), placement.RemoveClaim("shared"), placement.RemoveClaim("none"),
		placement.SetClaim(workload.Claim{}))
	wantFaults(t, err, `
edits[0].claims[0]: unknown claim "none"
edits[1].claims[0]: unknown claim "none"
edits[2]: 2 pods hold claim "shared"
edits[3]: no claim "none"
edits[4].id: is empty`)
	lost.Node = ""
	_, err = new(placement.Preemptor).Decide(s, placement.Request{Pods: []workload.Pod{lost}})
	wantFaults(t, err, `request.pods[0].claims[0]: unknown claim "none"`)
}

// A claim that is set again counts as it is now; one without pods can be removed.
func TestEditsOfClaims(t *testing.T) {
	s := edit(t, snapshotOf(t, devices()), placement.SetClaim(workload.Claim{ID: "shared"}))
	in := cpu("in0", "", 0, 1)
	in.Claims = []string{"new"}
	r := placement.Request{Priority: 9, Pods: []workload.Pod{in}}
	wantText(t, text(decide(t, placement.Config{}, s, r)), "Fits in0@n1")
	again := workload.Claim{ID: "shared", Requests: workload.Resources{"gpu": 1}}
	s = edit(t, s, placement.SetClaim(again), placement.Remove("a"))
	wantText(t, text(decide(t, placement.Config{}, s, r)), "Preempt in0@n1; evict b")
	s = edit(t, s, placement.Remove("b"), placement.RemoveClaim("shared"))
	wantText(t, text(decide(t, placement.Config{}, s, r)), "Fits in0@n1")
}

// A Fit frees a claim with the last group that holds it.
func TestFitFreesClaims(t *testing.T) {
	st := devices()
	st.Nodes[0].Capacity["gpu"] = 4
	for i := range st.Claims {
		st.Claims[i].Requests = workload.Resources{"gpu": 2}
	}
	st.Pods[0].Group, st.Pods[1].Group, st.Pods[2].Group = "a", "b", "c"
	in := cpu("in0", "", 0, 1)
	in.Claims = []string{"new"}
	fit := must(new(placement.Preemptor).Fit(snapshotOf(t, st), placement.Request{Pods: []workload.Pod{in}}))(t)
	for _, step := range []struct {
		do   func(string)
		of   string
		fits bool
	}{
		{fit.Restore, "a", false}, {fit.Remove, "a", false}, {fit.Remove, "b", true}, {fit.Restore, "a", false}, {fit.Remove, "c", true},
		{fit.Restore, "b", true}, {fit.Restore, "c", false}, {fit.Remove, "a", false}, {fit.Remove, "b", true},
	} {
		if step.do(step.of); fit.Fits() != step.fits {
			t.Errorf("%s: fits %v", step.of, fit.Fits())
		}
	}
}
