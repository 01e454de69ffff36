package preemptiontest

import (
	"errors"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
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

// TestDeciderInOrder is TestDecider that also holds the scheduler to the order of KEP-83 and KEP-8522
// ([verify.InOrder]): lower priority first, of one priority the last admitted first; of equals those whose time is over
// first, the longest running of them first. A scheduler that chooses among permitted victims by another order passes
// TestDecider and fails here.
func TestDeciderInOrder(c preemption.Config, decide Decider, records int) error {
	return testInOrder(c, decide, Records(), records)
}

// TestOneQueueDecider is TestDeciderInOrder for a scheduler without cohorts: about [OneQueueRecords].
func TestOneQueueDecider(c preemption.Config, decide Decider, records int) error {
	return testInOrder(c, decide, OneQueueRecords(), records)
}

func testInOrder(c preemption.Config, decide Decider, from *rapid.Generator[preemption.Record], records int) error {
	var all []error
	for seed := range records {
		record := from.Example(seed)
		d, err := decide(record.State, *record.Request)
		if err == nil {
			err = errors.Join(verify.Decision(record.State, *record.Request, c, d), verify.InOrder(record.State, *record.Request, c, d))
		}
		if err != nil {
			all = append(all, fmt.Errorf("record %d: %w", seed, err))
		}
	}
	return errors.Join(all...)
}

// OneQueueRecords draws states of one queue in no cohort, with one flavor and resource, and a request in it: what a
// scheduler without cohorts, flavors, gates, rules and elastic workloads knows. Priorities, amounts and times are often equal, and
// often at the end of a minAdmitDuration.
func OneQueueRecords() *rapid.Generator[preemption.Record] {
	return rapid.Custom(func(t *rapid.T) preemption.Record {
		job := func(id string, most int64) workload.Workload {
			return workload.Workload{
				ID: id, Queue: "queue", Priority: rapid.Int64Range(0, 3).Draw(t, "priority"),
				Queued:  Now.Add(-time.Duration(rapid.IntRange(0, 5).Draw(t, "queued")) * time.Hour),
				PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "flavor", Resource: "gpu", Amount: rapid.Int64Range(1, most).Draw(t, "amount")}}}},
			}
		}
		var st preemption.State
		used := int64(0)
		for i := range rapid.IntRange(0, 8).Draw(t, "running") {
			w := job(fmt.Sprintf("running-%d", i), 3)
			w.ReservedAt = Now.Add(-time.Duration(rapid.IntRange(0, 6).Draw(t, "age")) * 30 * time.Minute).Add(-time.Duration(rapid.IntRange(0, 1).Draw(t, "past")))
			used += w.Usage()[0].Amount
			st.Admitted = append(st.Admitted, w)
		}
		q := queue.Queue{Name: "queue", Quotas: []quota.Quota{{Flavor: "flavor", Resource: "gpu", Nominal: used + rapid.Int64Range(0, 1).Draw(t, "free")}}}
		q.Preemption.WithinClusterQueue = pick(t, "policy", queue.LowerPriority, queue.LowerOrNewerEqualPriority, queue.LowerOrNewerEqualPriority)
		if q.Preemption.WithinClusterQueue == queue.LowerOrNewerEqualPriority && chance(t, 2, 3) {
			q.Preemption.MinAdmitDuration = quota.Some(time.Hour)
		}
		st.Queues = []queue.Queue{q}
		return preemption.Record{State: st, Request: &preemption.Request{Workload: job("incoming", 6), Now: Now}}
	})
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
