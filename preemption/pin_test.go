package preemption_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// "Requests that have a flavor keep it. Requests of nothing, of which the queue has no quota,
// are left out": of nothing is also what no replica asks for.
func TestPinLeavesOutNothing(t *testing.T) {
	asks := func(flavor string, amount int64) []quota.Amount {
		return []quota.Amount{{Flavor: flavor, Resource: "gpu", Amount: amount}, {Resource: "ib", Amount: amount}}
	}
	w := workload.Workload{PodSets: []workload.PodSet{
		{Name: "some", Count: 1, Requests: asks("", 1)},
		{Name: "own", Count: 1, Requests: asks("mine", 1)},
		{Name: "zero", Count: 1, Requests: asks("", 0)},
		{Name: "nobody", Count: 0, Requests: asks("", 1)},
	}}
	var a preemption.Assignment
	for _, p := range w.PodSets {
		a = append(a, preemption.FlavorChoice{PodSet: p.Name, Flavor: "spot", Resources: []preemption.AssignedResource{{Resource: "gpu"}}})
	}
	gpu := func(flavor string, amount int64) quota.Amount {
		return quota.Amount{Flavor: flavor, Resource: "gpu", Amount: amount}
	}
	ib := quota.Amount{Resource: "ib", Amount: 1} // without flavor: it is asked for
	want := [][]quota.Amount{{gpu("spot", 1), ib}, {gpu("mine", 1), ib}, {gpu("spot", 0)}, {gpu("spot", 1)}}
	for i, p := range a.Pin(w).PodSets {
		if diff := cmp.Diff(want[i], p.Requests); diff != "" {
			t.Errorf("%s: %s", p.Name, diff)
		}
	}
}
