package preemption_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// another draws a workload that differs from a waiting one in some fields.
func another(t *rapid.T, w workload.Workload) workload.Workload {
	o := w.Clone()
	o.ID, o.UID = "ns/another", "u-a"
	times := []time.Time{{}, started(0), started(1), started(30), started(90)}
	for range rapid.IntRange(0, 2).Draw(t, "differences") {
		switch rapid.IntRange(0, 10).Draw(t, "difference") {
		case 0:
			o.Queued = rapid.SampledFrom(times).Draw(t, "queued")
		case 1:
			o.Created = rapid.SampledFrom(times).Draw(t, "created")
		case 2:
			o.Labels = map[string]string{"size": rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "size")}
		case 3:
			o.PriorityClass = "another"
		case 4:
			o.LocalQueue = "ns/another"
		case 5:
			o.Priority++
		case 6:
			o.Priority, o.PriorityBoost = o.Priority-1, o.PriorityBoost+1
		case 7:
			o.Gates = gate.Gates{Names: []string{"another"}}
		case 8:
			o.PodSets[0].Count++
		case 9:
			o.NeverPreempts = !o.NeverPreempts
		case 10:
			o.Loss.PerReplica = 7
		}
	}
	return o
}

// sharesOfOneShape: requests of one shape have one decision.
func sharesOfOneShape(t *rapid.T, reached map[string]int) {
	record := preemptiontest.Records().Draw(t, "record")
	st, r := record.State, *record.Request
	config := preemptiontest.Configs().Draw(t, "config")
	if rapid.IntRange(0, 2).Draw(t, "no guards") > 0 {
		config.Guards = nil
	}
	if rapid.IntRange(0, 2).Draw(t, "with rules") == 0 {
		st.Rules = []rules.Config{drawRules(t, &st, &r.Workload)}
	}
	s, p := snapshotOf(t, st), preemptorOf(config)
	other := r
	other.Workload = another(t, r.Workload)
	if len(r.NeedsPreemption) > 0 && rapid.Bool().Draw(t, "all that does not fit") {
		other.NeedsPreemption = nil
	}
	before := r.Workload.Clone()
	shape := p.Shape(s, r)
	noDiff(t, "Shape changed the request", before, r.Workload)
	if shape == "" || shape != p.Shape(s, other) {
		reached["not alike"]++
		return
	}
	one := must(p.Decide(s, r))(t)
	two := must(p.Decide(s, other))(t)
	one.Admitted, two.Admitted = nil, nil
	noDiff(t, fmt.Sprintf("requests of the shape %s", shape), one, two)
	reached[one.Outcome.String()]++
	if len(st.Rules) > 0 {
		reached["with rules"]++
	}
}

// TestSharesOfOneShape draws until each case was met: a rare one may miss a hundred draws, not five thousand.
func TestSharesOfOneShape(t *testing.T) {
	reached := map[string]int{}
	cases := []string{"not alike", "Fits", "Preempt", "Gated", "Wait", "Impossible", "with rules"}
	missed := func() []string {
		return slices.DeleteFunc(slices.Clone(cases), func(what string) bool { return reached[what] > 0 })
	}
	for round := 0; round == 0 || round < 50 && len(missed()) > 0 && !testing.Short() && !t.Failed(); round++ {
		rapid.Check(t, func(t *rapid.T) { sharesOfOneShape(t, reached) })
	}
	if never := missed(); len(never) > 0 && !testing.Short() {
		t.Errorf("never met: %q", never)
	}
}

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
