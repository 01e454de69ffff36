package preemptiontest

import (
	"reflect"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// CheckCost checks the laws of [preemption.Cost] on generated workloads: the same arguments
// give the same cost; no cost is negative; a whole workload costs at least as much as all its
// surplus replicas together; the function does not change the workload. Call it from a
// property, as CheckGuard.
func CheckCost(t *rapid.T, c preemption.Cost) {
	w := Workload(States().Draw(t, "state"), "ns/w").Draw(t, "workload")
	w.ReservedAt = Now.Add(-time.Duration(rapid.Int64Range(-10, 1e6).Draw(t, "running seconds")) * time.Second)
	w.Evicted = chance(t, 1, 8)
	switch rapid.IntRange(0, 3).Draw(t, "known loss") {
	case 0:
		w.Loss.PerReplica = rapid.Int64Range(0, quota.Unlimited).Draw(t, "per replica")
	case 1:
		w.Loss.LastCheckpoint = Now.Add(-time.Duration(rapid.Int64Range(-10, 1e6).Draw(t, "seconds since the checkpoint")) * time.Second)
	case 2:
		w.Loss.Milestones = milestones(t)
	}
	before := w.Clone()
	whole, surplus := c.Lost(w, "", Now), int64(0)
	if again := c.Lost(w, "", Now); again != whole {
		t.Fatalf("the cost of %q is %d, then %d", w.ID, whole, again)
	}
	if whole < 0 {
		t.Fatalf("the cost of %q is %d", w.ID, whole)
	}
	for i := range w.PodSets {
		p := &w.PodSets[i]
		one := c.Lost(w, p.Name, Now)
		if one < 0 {
			t.Fatalf("the cost of a replica of %q in %q is %d", p.Name, w.ID, one)
		}
		surplus = quota.Add(surplus, quota.Mul(p.Surplus(), one))
	}
	if surplus > whole {
		t.Fatalf("the surplus of %q costs %d, the whole %d", w.ID, surplus, whole)
	}
	if !reflect.DeepEqual(before, w) {
		t.Fatalf("the cost changes %q", w.ID)
	}
}

func milestones(t *rapid.T) (list []workload.Milestone) {
	after := time.Duration(0)
	for range rapid.IntRange(1, 3).Draw(t, "milestones") {
		after += time.Duration(rapid.Int64Range(1, 1e5).Draw(t, "after")) * time.Second
		list = append(list, workload.Milestone{After: quota.Some(after), Cost: rapid.Int64Range(0, 1000).Draw(t, "milestone")})
	}
	return list
}
