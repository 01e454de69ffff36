package budget_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/internal/engine/nodes/budget"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/workload"
)

// pod is a running pod with labels, of a group if it names one.
func pod(id, group string, priority int32, labels ...string) workload.Pod {
	p := workload.Pod{ID: id, UID: id, Group: group, Priority: priority, Node: "n", Labels: map[string]string{}}
	for _, l := range labels {
		p.Labels[l] = "yes"
	}
	return p
}

// covers is a budget over the pods with a label.
func covers(label string, allowed int64, disrupted ...string) workload.DisruptionBudget {
	return workload.DisruptionBudget{Name: label, Allowed: allowed, Disrupted: disrupted,
		Selector: &workload.LabelSelector{MatchLabels: map[string]string{label: "yes"}}}
}

func clusterOf(t *testing.T, budgets []workload.DisruptionBudget, pods ...workload.Pod) *state.Cluster {
	t.Helper()
	st := state.State{Nodes: []workload.Node{{Name: "n"}}, Budgets: budgets, Pods: pods}
	for _, p := range pods {
		if p.Group != "" && !slices.ContainsFunc(st.Groups, func(g workload.PodGroup) bool { return g.ID == p.Group }) {
			st.Groups = append(st.Groups, workload.PodGroup{ID: p.Group, Priority: p.Priority, DisruptionMode: workload.DisruptionModePodGroup})
		}
	}
	c, err := state.New(&st)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Units that violate a budget come first; in both parts the most important comes first. What the budgets allow goes to the
// more important units.
func TestPotentialVictims(t *testing.T) {
	three := []workload.Pod{pod("a", "", 3, "x"), pod("b", "", 2, "x"), pod("c", "", 1, "x")}
	both := []workload.Pod{pod("a", "", 3, "x", "y"), pod("b", "", 2, "y"), pod("c", "", 1)}
	for _, c := range []struct {
		about   string
		budgets []workload.DisruptionBudget
		pods    []workload.Pod
		first   bool
		want    string
	}{
		{"no budget", nil, three, false, "a:0 b:0 c:0"},
		{"one is allowed", []workload.DisruptionBudget{covers("x", 1)}, three, false, "b:1 c:1 a:0"},
		{"one counts as disrupted", []workload.DisruptionBudget{covers("x", 1, "a")}, three, false, "c:1 a:0 b:0"},
		{"nothing is allowed", []workload.DisruptionBudget{covers("x", 0)}, three, false, "a:1 b:1 c:1"},
		{"each budget is charged", []workload.DisruptionBudget{covers("x", 0), covers("y", 1)}, both, false, "a:1 b:1 c:0"},
		{"up to the first violated one", []workload.DisruptionBudget{covers("x", 0), covers("y", 1)}, both, true, "a:1 b:0 c:0"},
		{"each pod of a group counts", []workload.DisruptionBudget{covers("x", 1)},
			[]workload.Pod{pod("a", "", 3, "x"), pod("g1", "g", 2, "x"), pod("g2", "g", 2, "x"), pod("g3", "g", 2)}, false, "g1+g2+g3:2 a:0"},
		{"higher priorities do not yield", []workload.DisruptionBudget{covers("x", 1)}, append(three[:2:2], pod("high", "", 9, "x")), false, "b:1 a:0"},
	} {
		units, violations := budget.PotentialVictims(clusterOf(t, c.budgets, c.pods...), 9, c.first)
		var got []string
		for i, u := range units {
			var ids []string
			for _, p := range u.Pods {
				ids = append(ids, p.Facts.ID)
			}
			got = append(got, fmt.Sprint(strings.Join(ids, "+"), ":", violations[i]))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.about, got, c.want)
		}
	}
}

// A unit is charged whole or not at all, and asking charges nothing.
func TestSpendAll(t *testing.T) {
	c := clusterOf(t, []workload.DisruptionBudget{covers("x", 2)}, pod("a", "", 4, "x"), pod("g1", "g", 3, "x"), pod("g2", "g", 3, "x"), pod("b", "", 2, "x"), pod("c", "", 1, "x"))
	l := budget.NewLedger(c, false, budget.Ledger{})
	spent := []bool{true, false, true, false} // a, then the group would make three, b, then c
	for i, u := range c.Units() {
		if allows := l.Allows(u); allows != spent[i] {
			t.Errorf("%s is allowed: %t", u.Pods[0].Facts.ID, allows)
		}
		if got := l.SpendAll(u); got != spent[i] {
			t.Errorf("%s is charged: %t", u.Pods[0].Facts.ID, got)
		}
	}
	again := budget.NewLedger(c, false, l.Release())
	if u := c.Units()[1]; !again.SpendAll(u) || again.Allows(c.Units()[0]) {
		t.Error("a new ledger does not begin with what the budgets allow")
	}
}

// Disrupt counts each pod once, and never allows less than nothing. Other budgets are not listed.
func TestDisrupt(t *testing.T) {
	c := clusterOf(t, []workload.DisruptionBudget{covers("x", 1, "a"), covers("y", 5), covers("z", 5)}, pod("a", "", 1, "x"), pod("b", "", 1, "x", "y"), pod("c", "", 1, "x"))
	var got []string
	for _, b := range budget.Disrupt(c, []string{"a", "b", "c", "b"}) {
		got = append(got, fmt.Sprint(b.Name, b.Allowed, b.Disrupted))
	}
	if want := "x0 [a b c] y4 [b]"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if c.Budgets[0].Facts.Allowed != 1 {
		t.Error("the cluster changed")
	}
}

// A brief says no more than the pod does: who exhausts a budget by its brief does so by all that is known.
func TestExhausts(t *testing.T) {
	c := clusterOf(t, []workload.DisruptionBudget{covers("x", 0), covers("y", 3), covers("z", 0, "d")},
		pod("a", "", 1, "x"), pod("b", "", 1, "y"), pod("c", "", 1), pod("d", "", 1, "z"), pod("e", "", 1, "x", "y"), pod("g", "g", 1, "x"))
	want := map[string][2]bool{"a": {true, true}, "e": {true, false}, "g": {true, false}}
	n := c.Node(c.NodeNumber("n"))
	for k, b := range n.Briefs {
		id := n.Pods[k].Facts.ID
		if got := [2]bool{budget.Exhausts(c, n.Pods[k]), budget.ExhaustsAlone(c, b)}; got != want[id] {
			t.Errorf("%s: %v, want %v", id, got, want[id])
		}
	}
}
