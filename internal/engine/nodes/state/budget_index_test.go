package state

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/cedesched/cede/workload"
	"pgregory.net/rapid"
)

// The index finds the budgets that cover a pod, as a look at each budget does, after any edits of budgets. The edits do
// not change the cluster that they begin with.
func TestIndexFindsTheBudgetsThatCover(t *testing.T) {
	name := rapid.SampledFrom([]string{"", "a", "b", "c"})
	labels := rapid.MapOf(name, name)
	expression := rapid.Custom(func(t *rapid.T) workload.LabelRequirement {
		r := workload.LabelRequirement{Key: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")}
		r.Operator = rapid.SampledFrom([]workload.LabelOperator{workload.In, workload.NotIn, workload.Exists, workload.DoesNotExist}).Draw(t, "operator")
		if r.Operator == workload.In || r.Operator == workload.NotIn {
			r.Values = rapid.SliceOfN(name, 1, 3).Draw(t, "values")
		}
		return r
	})
	budget := rapid.Custom(func(t *rapid.T) workload.DisruptionBudget {
		b := workload.DisruptionBudget{
			Namespace: name.Draw(t, "namespace"), Name: fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "name")), LabelledOnly: rapid.Bool().Draw(t, "labelled only"),
		}
		if rapid.IntRange(0, 9).Draw(t, "selects") > 0 {
			b.Selector = &workload.LabelSelector{MatchLabels: labels.Draw(t, "labels"), MatchExpressions: rapid.SliceOfN(expression, 0, 2).Draw(t, "expressions")}
		}
		return b
	})
	rapid.Check(t, func(t *rapid.T) {
		st := State{
			Nodes:   []workload.Node{{Name: "n"}},
			Budgets: rapid.SliceOfNDistinct(budget, 0, 8, func(b workload.DisruptionBudget) budgetKey { return keyOf(&b) }).Draw(t, "budgets"),
		}
		for i := range rapid.IntRange(1, 8).Draw(t, "pods") {
			st.Pods = append(st.Pods, workload.Pod{
				ID: fmt.Sprint(i), Node: "n", Namespace: name.Draw(t, "namespace"), Labels: labels.Draw(t, "labels"),
			})
		}
		c, err := New(&st)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 3).Draw(t, "rounds") {
			next, before := *c, c.State()
			for range rapid.IntRange(1, 4).Draw(t, "edits") {
				e, b := next.Edit(""), budget.Draw(t, "budget")
				if rapid.Bool().Draw(t, "remove") {
					e.RemoveBudget(b.Namespace, b.Name) // a fault, if it is not there, changes nothing
				} else if faults := e.SetBudget(b); faults != nil {
					t.Fatal(faults)
				}
			}
			next.SettleBudgets()
			if after := c.State(); !reflect.DeepEqual(after, before) {
				t.Fatalf("edits of a copy lead from %+v to %+v", before, after)
			}
			c = &next
		}
		shared := 0
		for p := range c.Running.All {
			var want []int32
			for _, slot := range c.BudgetOrder {
				if c.Budgets[slot].Facts.Covers(&p.Facts) {
					want = append(want, slot)
				}
			}
			if got := c.covering(nil, &p.Facts); !slices.Equal(got, want) || !slices.Equal(p.Budgets, want) {
				t.Fatalf("%v covers %q, and the pod has %v, want %v", got, p.Facts.ID, p.Budgets, want)
			}
			if len(want) > 1 {
				shared++
			}
		}
		if c.shared != shared {
			t.Fatalf("%d pods have several budgets, not %d", shared, c.shared)
		}
	})
}

// A budget that shares a label with all others is found by a label of its own, and an index keeps nothing of budgets
// that are gone.
func TestIndexAsksFewBudgets(t *testing.T) {
	const budgets = 20
	st := State{}
	budgetOf := func(namespace string, i int) workload.DisruptionBudget {
		return workload.DisruptionBudget{Namespace: namespace, Name: fmt.Sprint(i), Selector: &workload.LabelSelector{
			MatchLabels:      map[string]string{"all": "web"},
			MatchExpressions: []workload.LabelRequirement{{Key: "own", Operator: workload.In, Values: []string{fmt.Sprint(i), fmt.Sprint(-i - 1)}}},
		}}
	}
	for i := range budgets {
		st.Budgets = append(st.Budgets, budgetOf("ns", i))
	}
	c, err := New(&st)
	if err != nil {
		t.Fatal(err)
	}
	for label, slots := range c.asked["ns"].asking {
		if len(slots) != 1 {
			t.Errorf("%d budgets are asked about pods with %v", len(slots), label)
		}
	}
	if n := len(c.asked["ns"].rest); n > 0 {
		t.Errorf("%d budgets are asked about each pod", n)
	}
	for i := range budgets {
		e := c.Edit("")
		e.RemoveBudget("ns", fmt.Sprint(i))
		if c.SettleBudgets(); len(c.asked["ns"].asking) > 2*(budgets-i-1) {
			t.Errorf("with %d budgets: %v", budgets-i-1, c.asked["ns"].asking)
		}
	}
	e := c.Edit("")
	e.SetBudget(budgetOf("other", 0))
	if c.SettleBudgets(); len(c.asked) != 1 {
		t.Errorf("indexes of %d namespaces, want that of one", len(c.asked))
	}
}
