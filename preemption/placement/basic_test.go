package placement_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// The bound of steps holds for a Basic group as for others: RetryAt is the instant at which it
// was reached, which is not after the first at which somebody may yield.
func TestRetryAtOfABasicGroupIsBounded(t *testing.T) {
	start := preemptiontest.Now
	st := placement.State{
		Groups:  []workload.PodGroup{{ID: "basic", Priority: 10, Basic: true}},
		Budgets: []workload.DisruptionBudget{{Name: "none", Selector: &workload.LabelSelector{MatchLabels: map[string]string{"app": "kept"}}}},
	}
	for i := range 4 {
		name := fmt.Sprint("n", i)
		p := cpu("on-"+name, name, 0, 2)
		p.Started, p.MinRuntime = start, quota.Some(time.Duration(i+1)*time.Hour)
		if i < 3 {
			p.Labels = map[string]string{"app": "kept"}
		}
		st.Nodes, st.Pods = append(st.Nodes, machine(name, 2)), append(st.Pods, p)
	}
	r := placement.Request{Group: "basic", Priority: 10, Now: start, Pods: []workload.Pod{cpu("in0", "", 0, 2), cpu("in1", "", 0, 2)}}
	for steps, hours := range map[int]int{0: 4, 1: 2, 1000: 4} {
		d := decide(t, placement.Config{MaxRetrySteps: steps, Budgets: placement.Hard}, snapshotOf(t, st), r)
		if want := start.Add(time.Duration(hours)*time.Hour + 1); !d.RetryAt.Equal(want) {
			t.Errorf("MaxRetrySteps %d: retry at %v, want %v", steps, d.RetryAt, want)
		}
	}
}
