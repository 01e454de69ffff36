package settle_test

import (
	"strings"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// "A queue gives only while it uses more of the column than its own quota": a borrows a GPU, and keeps its CPU. The judge refuses an
// answer that takes it.
func TestNoQueueLosesWhatIsItsOwn(t *testing.T) {
	of := func(name string, cpu int64) queue.Queue {
		return queue.Queue{Name: name, Cohort: "all", Quotas: []quota.Quota{
			{Flavor: "f", Resource: "cpu", Nominal: cpu}, {Flavor: "f", Resource: gpu},
		}}
	}
	runs := func(id, resource string, priority, amount int64) workload.Workload {
		w := job(id, priority, amount, 9)
		w.PodSets[0].Requests[0].Resource = resource
		return w
	}
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "all"}}, Queues: []queue.Queue{of("a", 3), of("b", 0)},
		Admitted: []workload.Workload{runs("a-cpu", "cpu", -1, 3), runs("a-gpu", gpu, 0, 1), runs("b-cpu", "cpu", 0, 3)},
	}
	for _, c := range []preemption.Config{{}, {Sharing: preemption.Fair}} {
		a := settled(t, c, st, settle.Request{})
		if got := told(a); got != "Preempt a-gpu b-cpu" {
			t.Errorf("%v: %s", c.Sharing, got)
		}
		a.Victims[1].Workload, a.Steps[0].Victims[0].Workload = "a-cpu", "a-cpu"
		a.Victims[0], a.Victims[1] = a.Victims[1], a.Victims[0]
		a.Steps[0].Victims[0].Queue = "a"
		if err := verify.Settlement(st, settle.Request{Now: now}, c, a); err == nil || !strings.Contains(err.Error(), "a-cpu") {
			t.Errorf("%v: the judge says %v", c.Sharing, err)
		}
	}
}
