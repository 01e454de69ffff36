package placement_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// judged decides, and lets verify judge the decision and explain say it.
func judged(t *testing.T, c placement.Config, st placement.State, r placement.Request) placement.Decision {
	t.Helper()
	s := snapshotOf(t, st)
	d := decide(t, c, s, r)
	verified(t, st, r, c, d)
	p := must(placement.New(c))(t)
	e, err := explain.ExplainPlacement(p, s, r)
	if diff := differ(d, e.Decision); err != nil || diff != "" || len(e.Steps) == 0 {
		t.Errorf("%v: %v %s", c.Mode, err, diff)
	}
	return d
}

// "if a nominated node of any pending member holds a pod that is terminating because of scheduler preemption and whose
// effective priority is lower, the answer is Success \"ongoing preemption\" with the current nominations of all members and no
// new victim. Terminating for another reason does not count. Terminating pods can be chosen as victims again." The effective
// priority is that of the root. In the design what terminates is waited for if it makes room.
func TestTerminatingPodsOfNestedGroups(t *testing.T) {
	for name, test := range map[string]struct {
		preempted bool
		root      int32
		design    string
		asBuilt   string
	}{
		"preempted":             {true, 3, "Wait in0@n1", "Wait in0@n1"},
		"for another reason":    {false, 3, "Wait in0@n1", "Preempt in0@n1; evict a b c"},
		"the root is not lower": {true, 9, "Wait in0@n1", "Impossible (NoVictims)"},
	} {
		st := nestedState(func(g map[string]*workload.PodGroup) {
			g["middle"].DisruptionMode, g["root"].Priority = whole, test.root
		})
		for i := range st.Nodes {
			st.Nodes[i].Capacity["cpu"] = int64(i + 1)
		}
		st.Pods[0].Terminating, st.Pods[0].Preempted = true, test.preempted
		in := cpu("in0", "", 0, 1)
		r := placement.Request{Group: "in", Priority: 9, Pods: []workload.Pod{in}}
		in.Node, in.Priority = "n1", 9
		st.Nominated = []workload.Pod{in}
		for _, mode := range allModes {
			want := test.asBuilt
			if mode == placement.ModeDesign {
				want = test.design
			}
			wantText(t, text(judged(t, placement.Config{Mode: mode}, st, r)), want, "%s, %v", name, mode)
		}
	}
}

// When a nested group yields whole, the nominations of its waiting pods are void, whichever group of it names them; and a
// nomination counts with the priority of the root.
func TestNominationsOfNestedGroupsThatYield(t *testing.T) {
	st := nestedState(func(g map[string]*workload.PodGroup) { g["root"].DisruptionMode = whole })
	st.Nodes[1].Capacity["cpu"] = 3
	waiting := cpu("waiting", "n2", 99, 1)
	waiting.Group = "other"
	st.Nominated = []workload.Pod{waiting}
	for _, mode := range allModes {
		r := placement.Request{Group: "in", Priority: 9, Pods: []workload.Pod{cpu("in0", "", 0, 2)}}
		d := judged(t, placement.Config{Mode: mode}, st, r)
		wantText(t, text(d), "Preempt in0@n1; evict a b c; withdraw waiting", "%v", mode)
		for priority, want := range map[int32]string{3: "Impossible (NoVictims)", 4: "Fits in0@n2"} {
			r := placement.Request{Group: "in", Priority: priority, Pods: []workload.Pod{cpu("in0", "", 0, 1)}}
			r.Pods[0].Nodes = []string{"n2"}
			wantText(t, text(judged(t, placement.Config{Mode: mode}, st, r)), want, "%v, priority %d", mode, priority)
		}
	}
}

// A nested unit is protected as long as one of its pods is: by its own minimum runtime, by that of the nearest group, by a
// guard; in each mode, and as long as the time says.
func TestProtectionOfNestedUnits(t *testing.T) {
	now := preemptiontest.Now
	for _, mode := range allModes {
		st := nestedState(func(g map[string]*workload.PodGroup) {
			g["middle"].DisruptionMode, g["other"].MinRuntime = whole, quota.Some(2*time.Hour)
		})
		for i := range st.Pods {
			st.Pods[i].Started = now.Add(-time.Hour)
		}
		r := placement.Request{Group: "in", Priority: 9, Now: now, Pods: []workload.Pod{cpu("in0", "", 0, 2)}}
		c := placement.Config{Mode: mode}
		d := judged(t, c, st, r)
		if d.Outcome != preemption.Wait || !d.RetryAt.Equal(now.Add(time.Hour+1)) || d.Blockers[0].Group != "middle" {
			t.Errorf("%v: %+v", mode, d)
		}
		r.Now = d.RetryAt
		wantText(t, text(judged(t, c, st, r)), "Preempt in0@n1; evict a b c", "%v", mode)
		c.Guards = []placement.Guard{preemptiontest.Pinned{Label: "keep", Value: "yes"}}
		st.Pods[2].Labels = map[string]string{"keep": "yes"}
		if d := judged(t, c, st, r); d.Outcome != preemption.Impossible || d.Blockers[0].Rule != placement.RuleGuarded {
			t.Errorf("%v: %s", mode, text(d))
		}
	}
}

// "Each matching budget loses 1; the first budget that falls below 0 makes the pod violating and ends the walk for this pod.
// Budgets before it stay reduced, later ones are untouched." Before v1.37 each budget lost one. One switch decides, in each
// mode, for pods of nested groups as for others.
func TestChargesOfNestedUnits(t *testing.T) {
	budget := func(name, label string, allowed int64) workload.DisruptionBudget {
		selector := &workload.LabelSelector{MatchLabels: map[string]string{label: "1"}}
		return workload.DisruptionBudget{Name: name, Allowed: allowed, Selector: selector}
	}
	for charge, want := range map[placement.Charge]int{placement.ChargeToAll: 3, placement.ChargeToFirstViolated: 2} {
		for _, mode := range allModes {
			st := nestedState(func(g map[string]*workload.PodGroup) { g["middle"].DisruptionMode = whole })
			st.Budgets = []workload.DisruptionBudget{budget("1", "x", 0), budget("2", "y", 1)}
			for i := range st.Pods {
				st.Pods[i].Labels = map[string]string{"x": "1", "y": "1"}
			}
			delete(st.Pods[2].Labels, "x") // the last to be charged
			r := placement.Request{Group: "in", Priority: 9, Pods: []workload.Pod{cpu("in0", "", 0, 2)}}
			if d := judged(t, placement.Config{Mode: mode, Charge: charge}, st, r); d.Violations != want {
				t.Errorf("%v, %v: %d violations, want %d", mode, charge, d.Violations, want)
			}
		}
	}
}

// An explanation says what the groups of the request need.
func TestExplainNeedsOfGroups(t *testing.T) {
	r := treeRequest(2, 1, 1)
	r.MinGroups, r.Nested = 1, []placement.NestedGroup{
		{Group: "middle", MinGroups: 2, Domains: zones()}, {Group: "x", MinCount: 2, Domains: racks(), DomainsPreferred: true}, {Group: "z"},
	}
	e := must(explain.ExplainPlacement(nil, snapshotOf(t, treeState()), r))(t)
	for _, want := range []string{
		"needs 1 group in it", "group middle in it needs 2 groups in one of 2 domains",
		"group x in it needs 2 pods in one of 4 domains, or in all of them", "group z in it needs a pod",
	} {
		if text := explain.Text(e.Steps); !strings.Contains(text, want+"\n") {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
}
