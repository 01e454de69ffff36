package preemption_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var costs = map[string]preemption.Cost{
	"age":                  preemption.CostByAge{},
	"age of resources":     preemption.CostByAge{Resources: []string{"gpu", "cpu"}},
	"checkpoint":           preemption.CostSinceCheckpoint{},
	"checkpoint, resource": preemption.CostSinceCheckpoint{Resources: []string{"gpu"}},
	"declared":             preemption.CostDeclared{},
}

func TestCostsKeepTheirLaws(t *testing.T) {
	for name, c := range costs {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { preemptiontest.CheckCost(t, c) })
		})
	}
}

// What each cost says of one workload of two pod sets, an hour after its reservation.
func TestCosts(t *testing.T) {
	now := preemptiontest.Now
	w := workload.Workload{ID: "w", Queue: "q", ReservedAt: now.Add(-time.Hour), PodSets: []workload.PodSet{
		{Name: "main", Count: 2, MinCount: workload.AtLeast(1), Requests: []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: 4}, {Flavor: "f", Resource: "cpu", Amount: 9}}},
		{Name: "more", Count: 2, Requests: []quota.Amount{{Flavor: "g", Resource: "gpu", Amount: 1}}},
	}}
	saved := w
	saved.Loss = workload.Loss{LastCheckpoint: now.Add(-time.Minute), Restart: quota.Some(30 * time.Second)}
	before := w
	before.Loss.LastCheckpoint = now.Add(-2 * time.Hour) // of an earlier run
	future, evicted, unknown, declared, curve := w, w, w, w, w
	future.ReservedAt = now.Add(time.Hour)
	evicted.Evicted, evicted.Loss.PerReplica = true, 3
	unknown.ReservedAt = time.Time{}
	declared.Loss.PerReplica = 3
	curve.Loss.Milestones = []workload.Milestone{{After: quota.Some(30 * time.Minute), Cost: 100}, {After: quota.Some(90 * time.Minute)}}
	gpu := []string{"gpu"}
	for name, c := range map[string]struct {
		cost           preemption.Cost
		of             workload.Workload
		whole, replica int64
	}{
		"seconds":                   {preemption.CostByAge{}, w, 3600, 900},
		"GPU seconds":               {preemption.CostByAge{Resources: gpu}, w, 10 * 3600, 4 * 3600},
		"a start in the future":     {preemption.CostByAge{}, future, 0, 0},
		"no start":                  {preemption.CostByAge{Resources: gpu}, unknown, 0, 0},
		"evicted":                   {preemption.CostByAge{Resources: gpu}, evicted, 0, 0},
		"age knows no checkpoint":   {preemption.CostByAge{}, saved, 3600, 900},
		"since the checkpoint":      {preemption.CostSinceCheckpoint{}, saved, 90, 22},
		"GPUs since the checkpoint": {preemption.CostSinceCheckpoint{Resources: gpu}, saved, 900, 360},
		"no checkpoint":             {preemption.CostSinceCheckpoint{}, w, 3600, 900},
		"a checkpoint before":       {preemption.CostSinceCheckpoint{}, before, 3600, 900},
		"per replica":               {preemption.CostDeclared{}, declared, 12, 3},
		"evicted, per replica":      {preemption.CostDeclared{}, evicted, 0, 0},
		"milestones":                {preemption.CostDeclared{}, curve, 50, 12},
		"nothing declared":          {preemption.CostDeclared{}, w, 0, 0},
	} {
		if got := c.cost.Lost(c.of, "", now); got != c.whole {
			t.Errorf("%s: %d, want %d", name, got, c.whole)
		}
		if got := c.cost.Lost(c.of, "main", now); got != c.replica {
			t.Errorf("%s: a replica %d, want %d", name, got, c.replica)
		}
	}
}
