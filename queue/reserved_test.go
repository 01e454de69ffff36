package queue_test

import (
	"errors"
	"testing"

	"github.com/cedesched/cede/preemption/fault"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// What is wrong with a reserved amount is said where it stands.
func TestReservedIsValidated(t *testing.T) {
	gpu := func(amount int64) quota.Amount { return quota.Amount{Flavor: "f", Resource: "gpu", Amount: amount} }
	err := queue.Validate(
		[]queue.Cohort{{Name: "c", Reserved: []quota.Amount{gpu(-1)}}},
		[]queue.Queue{{Name: "q", Reserved: []quota.Amount{gpu(1), {}, gpu(quota.MaxUsage + 1)}}},
	)
	var faults fault.List
	errors.As(err, &faults)
	want := []string{
		"cohorts[0].reserved[0].amount", "queues[0].reserved[1].flavor", "queues[0].reserved[1].resource",
		"queues[0].reserved[2]", "queues[0].reserved[2].amount",
	}
	if len(faults) != len(want) {
		t.Fatalf("%d faults, want %d: %v", len(faults), len(want), err)
	}
	for i, path := range want {
		if faults[i].Path != path {
			t.Errorf("fault %d at %s, want %s", i, faults[i].Path, path)
		}
	}
}
