package placement_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// What stays of a group that leaves in part is covered by its budget in an edited snapshot
// as in a fresh one.
func TestBudgetOfWhatStays(t *testing.T) {
	st := world(t, "n1 2: a/0/g/protected b/0/g/protected")
	s := edit(t, snapshotOf(t, st), placement.StartEviction("a"))
	for name, s := range map[string]*placement.Snapshot{"edited": s, "fresh": snapshotOf(t, s.State())} {
		wantText(t, text(decide(t, placement.Config{}, s, pending(2))), "Preempt in0@n1 in1@n1; evict b, 1 against a budget", name)
	}
}

// "SetBudget adds a budget or replaces the one with that namespace and name": with another
// selector it covers other pods from then on.
func TestReplacedBudgetCoversOthers(t *testing.T) {
	st := world(t, "n1 1: a/0/protected", "n2 1: b/0")
	st.Pods[1].Labels = map[string]string{"app": "other"}
	next := st.Budgets[0]
	next.Selector = &workload.LabelSelector{MatchLabels: map[string]string{"app": "other"}}
	s := snapshotOf(t, st)
	wantText(t, text(decide(t, placement.Config{}, s, pending(0))), "Preempt in0@n2; evict b")
	s = must(s.With(placement.SetBudget(next)))(t)
	wantText(t, text(decide(t, placement.Config{}, s, pending(0))), "Preempt in0@n1; evict a")
}

// A group that yields whole is covered by the budget of a pod of it elsewhere, in a cluster of
// any size, and with an order of importance of the caller's.
func TestBudgetOfAPodElsewhere(t *testing.T) {
	lines := []string{"n1 1: a/0/g", "n2 1: b/0/g/protected"}
	for _, more := range []int{0, 20} {
		st := world(t, lines...)
		for i := range more {
			st.Nodes = append(st.Nodes, workload.Node{Name: fmt.Sprintf("small%02d", i)})
		}
		s := snapshotOf(t, st)
		for _, importance := range []func(a, b placement.Unit) int{nil, func(a, b placement.Unit) int { return 0 }} {
			for _, mode := range allModes {
				c := placement.Config{Mode: mode, Importance: importance}
				wantText(t, text(decide(t, c, s, pending(0))), "Preempt in0@n1; evict a b, 1 against a budget", "%v, %d small nodes", mode, more)
				c.Budgets = placement.Hard
				wantText(t, text(decide(t, c, s, pending(0))), "Impossible (Budgets)", "%v, %d small nodes, hard", mode, more)
			}
		}
	}
}

// A budget has its name alone, whichever pods it may cover.
func TestBudgetsOfOneName(t *testing.T) {
	one := workload.DisruptionBudget{Name: "b", Selector: &workload.LabelSelector{}}
	other := one
	other.LabelledOnly = true
	_, err := placement.NewSnapshot(placement.State{Budgets: []workload.DisruptionBudget{one, other}})
	wantFaults(t, err, `budgets[1]: "b" of namespace "" is there already: budgets[0]`)
}

// A pod under two budgets of which the first is spent: as built in v1.36 it is charged to both, so the next
// pod of the second violates it, too; as built in v1.37 only to the first.
func TestChargeOfAPodUnderTwoBudgets(t *testing.T) {
	both, other := cpu("both", "a", 2, 1), cpu("other", "a", 1, 1)
	both.Labels, other.Labels = map[string]string{"x": "1", "y": "1"}, map[string]string{"y": "1"}
	budget := func(name, label string, allowed int64) workload.DisruptionBudget {
		return workload.DisruptionBudget{Name: name, Allowed: allowed, Selector: &workload.LabelSelector{MatchLabels: map[string]string{label: "1"}}}
	}
	st := placement.State{Nodes: []workload.Node{machine("a", 2)}, Pods: []workload.Pod{both, other}, Budgets: []workload.DisruptionBudget{budget("x", "x", 0), budget("y", "y", 1)}}
	r := placement.Request{Priority: 10, Pods: []workload.Pod{cpu("in", "", 0, 2)}}
	for _, c := range []struct {
		mode   placement.Mode
		charge placement.Charge
		want   int
	}{
		{placement.ModeDesign, placement.ChargeByMode, 2}, {placement.ModeInPlace, placement.ChargeByMode, 1},
		{placement.ModeInPlace, placement.ChargeToAll, 2}, {placement.ModeDesign, placement.ChargeToFirstViolated, 1},
	} {
		config := placement.Config{Mode: c.mode, Charge: c.charge}
		d := decide(t, config, snapshotOf(t, st), r)
		if d.Violations != c.want {
			t.Errorf("%v, %v: %d violations, want %d", c.mode, c.charge, d.Violations, c.want)
		}
		verified(t, st, r, config, d)
	}
}

// Under hard budgets the units that may use the allowance do not count as violating, though a more important unit elsewhere is
// charged first (as built in v1.37): they come back in the order of importance, behind units that no budget covers.
func TestRationedUnitsComeBackByImportance(t *testing.T) {
	covered := func(p workload.Pod) workload.Pod {
		p.Labels = map[string]string{"app": "x"}
		return p
	}
	st := placement.State{
		Nodes: []workload.Node{machine("a", 2), machine("b", 3), machine("closed", 1)},
		Pods: []workload.Pod{
			covered(cpu("far", "closed", 8, 1)), covered(cpu("low2", "a", 2, 1)), covered(cpu("low3", "a", 3, 1)),
			cpu("free", "b", 5, 1), covered(cpu("low1", "b", 1, 1)),
		},
		Budgets: []workload.DisruptionBudget{{
			Name: "one", Allowed: 1, Selector: &workload.LabelSelector{MatchLabels: map[string]string{"app": "x"}},
		}},
	}
	st.Nodes[2].Unschedulable = true
	r := placement.Request{Group: "in", Priority: 10, Pods: []workload.Pod{cpu("in0", "", 0, 2)}}
	c := placement.Config{Mode: placement.ModeInPlace, Budgets: placement.Hard}
	d := decide(t, c, snapshotOf(t, st), r)
	wantText(t, text(d), "Preempt in0@b; evict low1")
	verified(t, st, r, c, d)
}
