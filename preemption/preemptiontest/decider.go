package preemptiontest

import (
	"errors"
	"fmt"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/verify"
)

// Decider is a scheduler under test: it answers a request about a state. It must not change
// its arguments.
type Decider func(st preemption.State, r preemption.Request) (preemption.Decision, error)

// TestDecider asks a scheduler about the given number of generated records, always the same
// ones. It returns the errors of the scheduler and the faults that [verify.Decision] finds
// in its decisions under the configuration, joined; nil if there are none. Each error names
// the number of its record: Records().Example(number) makes the record again. Like
// fstest.TestFS it needs no test framework.
func TestDecider(c preemption.Config, decide Decider, records int) error {
	var all []error
	for seed := range records {
		if err := check(c, decide, Records().Example(seed)); err != nil {
			all = append(all, fmt.Errorf("record %d: %w", seed, err))
		}
	}
	return errors.Join(all...)
}

// CheckDecider is TestDecider for one record that rapid draws. Call it from a property, as
// [CheckGuard].
func CheckDecider(t *rapid.T, c preemption.Config, decide Decider) {
	if err := check(c, decide, Records().Draw(t, "record")); err != nil {
		t.Fatal(err)
	}
}

func check(c preemption.Config, decide Decider, record preemption.Record) error {
	d, err := decide(record.State, *record.Request)
	if err != nil {
		return err
	}
	return verify.Decision(record.State, *record.Request, c, d)
}

// PlacementDecider is a scheduler of pods on nodes under test. It must not change its
// arguments.
type PlacementDecider func(st placement.State, r placement.Request) (placement.Decision, error)

// TestPlacementDecider is [TestDecider] for pods on nodes, with PlacementRecords and
// [verify.Placement].
func TestPlacementDecider(c placement.Config, decide PlacementDecider, records int) error {
	var all []error
	for seed := range records {
		if err := checkOnNodes(c, decide, PlacementRecords().Example(seed)); err != nil {
			all = append(all, fmt.Errorf("record %d: %w", seed, err))
		}
	}
	return errors.Join(all...)
}

// CheckPlacementDecider is [CheckDecider] for pods on nodes.
func CheckPlacementDecider(t *rapid.T, c placement.Config, decide PlacementDecider) {
	if err := checkOnNodes(c, decide, PlacementRecords().Draw(t, "record")); err != nil {
		t.Fatal(err)
	}
}

func checkOnNodes(c placement.Config, decide PlacementDecider, record placement.Record) error {
	d, err := decide(record.State, *record.Request)
	if err != nil {
		return err
	}
	return verify.Placement(record.State, *record.Request, c, d)
}
