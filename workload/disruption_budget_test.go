package workload_test

import (
	"testing"

	"github.com/cedesched/cede/workload"
)

// A budget is charged for a pod that it covers and does not count as disrupted already.
func TestBudgetCharges(t *testing.T) {
	b := workload.DisruptionBudget{Namespace: "ns", Name: "b", Selector: &workload.LabelSelector{}, Disrupted: []string{"gone"}}
	for pod, want := range map[*workload.Pod]bool{
		{ID: "a", Namespace: "ns"}: true, {ID: "gone", Namespace: "ns"}: false, {ID: "a", Namespace: "other"}: false,
	} {
		if got := b.Charges(pod); got != want {
			t.Errorf("%s/%s: %v, want %v", pod.Namespace, pod.ID, got, want)
		}
	}
}
