package workload

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/quota"
)

// "The cost is a linear interpolation of the configuration above" (KEP-83, Inform how costly
// is to interrupt a Workload).
func TestCostAfter(t *testing.T) {
	curve := Loss{Milestones: []Milestone{{quota.Some(60 * time.Second), 100}, {quota.Some(600 * time.Second), 0}}}
	large := Loss{Milestones: []Milestone{{Cost: math.MaxInt64}, {quota.Some[time.Duration](math.MaxInt64), 1}}}
	for _, c := range []struct {
		of    Loss
		after time.Duration
		want  int64
	}{
		{curve, -1, 0}, {curve, 0, 0}, {curve, 30 * time.Second, 50}, {curve, 60 * time.Second, 100},
		{curve, 330 * time.Second, 50}, {curve, 599 * time.Second, 0}, {curve, 600 * time.Second, 0}, {curve, time.Hour, 0},
		{Loss{}, time.Hour, 0}, {large, 0, math.MaxInt64}, {large, math.MaxInt64, 1}, {large, math.MaxInt64 / 2, 1 << 62},
		{Loss{Milestones: []Milestone{{Cost: 3}, {quota.Some[time.Duration](3), 5}}}, 1, 3}, {Loss{Milestones: []Milestone{{Cost: 3}, {quota.Some[time.Duration](3), 5}}}, 2, 4},
	} {
		if got := c.of.CostAfter(c.after); got != c.want {
			t.Errorf("%v after %v: %d, want %d", c.of.Milestones, c.after, got, c.want)
		}
	}
}

func TestLossIsValidated(t *testing.T) {
	valid := Workload{ID: "w", Queue: "q", Loss: Loss{LastCheckpoint: time.Now(), Restart: quota.Some(time.Minute), PerReplica: 1}}
	if err := Validate("w", &valid); err != nil {
		t.Error(err)
	}
	bad := Workload{ID: "w", Queue: "q", Loss: Loss{
		LastCheckpoint: time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC), Restart: quota.Some(-time.Second), PerReplica: -1,
		Milestones: []Milestone{{quota.Some[time.Duration](-1), 1}, {quota.Some[time.Duration](5), -1}, {quota.Some[time.Duration](5), 2}},
	}}
	err := Validate("w", &bad)
	if err == nil {
		t.Fatal("is valid")
	}
	for _, want := range []string{
		"w.loss.lastCheckpoint: 2300", "w.loss.restart: -1s is negative", "w.loss.perReplica: -1 is negative",
		"w.loss.perReplica: is set besides milestones", "w.loss.milestones[0]: cost 1 after -1ns: negative",
		"w.loss.milestones[1]: cost -1", "w.loss.milestones[2].after: 5ns is not after", `(workload "w")`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwithout %s", err, want)
		}
	}
}
