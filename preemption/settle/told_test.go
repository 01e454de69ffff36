package settle_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/workload"
)

// A hard budget of one lets one pod go, however often is asked: the pod that was told to stop still counts.
func TestHardBudgetHoldsOverSeveralCalls(t *testing.T) {
	st := placement.State{
		Nodes:   []workload.Node{{Name: "n", Capacity: workload.Resources{"cpu": 4}}},
		Budgets: []workload.DisruptionBudget{{Name: "b", Selector: &workload.LabelSelector{MatchLabels: map[string]string{"app": "x"}}, Allowed: 1}},
	}
	for i := range 4 {
		st.Pods = append(st.Pods, workload.Pod{ID: fmt.Sprint("p", i), Node: "n", Labels: map[string]string{"app": "x"}, Requests: workload.Resources{"cpu": 1}})
	}
	s, err := placement.NewSnapshot(st)
	if err != nil {
		t.Fatal(err)
	}
	p, err := placement.New(placement.Config{Budgets: placement.Hard})
	if err != nil {
		t.Fatal(err)
	}
	for call, want := range []int{1, 0, 0} {
		a, err := settle.DecideNodes(p, s, settle.NodesRequest{Now: now, Empty: []string{"n"}})
		if err != nil || len(a.Victims) != want {
			t.Fatalf("call %d: %v, %v, want %d", call+1, a.Victims, err, want)
		}
		if s, err = s.With(a.Edits()...); err != nil {
			t.Fatal(err)
		}
	}
}
