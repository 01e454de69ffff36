package queue_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

func cpu(nominal int64) quota.Quota {
	return quota.Quota{Flavor: "default", Resource: "cpu", Nominal: nominal}
}

func TestValidateReportsEveryFault(t *testing.T) {
	limited := cpu(4)
	limited.BorrowingLimit, limited.LendingLimit = quota.AtMost(-1), quota.AtMost(5)
	err := queue.Validate(
		[]queue.Cohort{
			{Name: "a", Parent: "b"},
			{Name: "b", Parent: "c"},
			{Name: "c", Parent: "b"},
			{Name: "d", Parent: "nowhere", Quotas: []quota.Quota{cpu(-1)}},
			{Name: "self", Parent: "self"},
			{Name: "a"},
			{},
		},
		[]queue.Queue{
			{Name: "q", Cohort: "missing", Quotas: []quota.Quota{cpu(1), cpu(2), {Nominal: 1}}},
			{Name: "q", Cohort: "d", Quotas: []quota.Quota{limited}},
			{Name: "alone", Quotas: []quota.Quota{{Flavor: "f", Resource: "cpu", BorrowingLimit: quota.AtMost(3)}}},
			{Name: "policies", Preemption: queue.PreemptionPolicy{
				WithinClusterQueue:  queue.Any,
				ReclaimWithinCohort: queue.LowerOrNewerEqualPriority,
				BorrowWithinCohort:  queue.BorrowWithinCohort{Policy: queue.Any},
			}},
			{Name: "contradiction", Preemption: queue.PreemptionPolicy{
				BorrowWithinCohort: queue.BorrowWithinCohort{Policy: queue.LowerPriority},
			}},
			{Name: "invalid", Preemption: queue.PreemptionPolicy{WithinClusterQueue: 9}},
			{Name: "time", Preemption: queue.PreemptionPolicy{
				WithinClusterQueue: queue.LowerPriority, MinAdmitDuration: quota.Some(-time.Second),
			}},
			{Name: "fungible", FlavorFungibility: queue.FlavorFungibility{3, 4, 2}},
			{Name: "early", FlavorFungibility: queue.FlavorFungibility{
				WhenCanBorrow: queue.TryNextFlavor, WhenCanPreempt: queue.MayStopSearch, Preference: queue.PreemptionOverBorrowing,
			}},
			{Name: "unset", FlavorFungibility: queue.FlavorFungibility{Preference: queue.PreemptionOverBorrowing}},
		})
	var faults fault.List
	if !errors.As(err, &faults) {
		t.Fatalf("no list: %v", err)
	}
	want := []string{
		`cohorts[5].name: "a" is also the name of cohorts[0]`,
		`cohorts[6].name: is empty`,
		`cohorts[3].parent: unknown cohort "nowhere"`,
		`cohorts[3].quotas[0].nominal: -1 is negative (cohort "d")`,
		`cohorts[1].parent: cohorts ["b" "c"] are a cycle`,
		`cohorts[4].parent: cohorts ["self"] are a cycle`,
		`queues[0].cohort: unknown cohort "missing" (queue "q")`,
		`queues[0].quotas[1]: default/cpu has an entry already, quotas[0] (queue "q")`,
		`queues[0].quotas[2].flavor: is empty`,
		`queues[0].quotas[2].resource: is empty`,
		`queues[1].name: "q" is also the name of queues[0]`,
		`queues[1].quotas[0].borrowingLimit: -1 is negative (queue "q")`,
		`queues[1].quotas[0].lendingLimit: 5 is more than the nominal 4 of default/cpu (queue "q")`,
		`queues[2].quotas[0].borrowingLimit: 3 has no meaning: queue "alone" is in no cohort`,
		`queues[3].preemption.withinClusterQueue: Any is none of [Never LowerPriority LowerOrNewerEqualPriority]`,
		`queues[3].preemption.reclaimWithinCohort: LowerOrNewerEqualPriority is none of [Never LowerPriority Any]`,
		`queues[3].preemption.borrowWithinCohort.policy: Any is none of [Never LowerPriority]`,
		`queues[4].preemption.borrowWithinCohort.policy: LowerPriority contradicts reclaimWithinCohort Never`,
		`queues[5].preemption.withinClusterQueue: VictimPolicy(9) is none of`,
		`queues[6].preemption.minAdmitDuration: -1s is less than 1m0s (queue "time")`,
		`queues[6].preemption.minAdmitDuration: -1s needs withinClusterQueue LowerOrNewerEqualPriority, not LowerPriority`,
		`queues[7].flavorFungibility.whenCanBorrow: FungibilityPolicy(3) is none of [MayStopSearch TryNextFlavor] (queue "fungible")`,
		`queues[7].flavorFungibility.whenCanPreempt: FungibilityPolicy(4) is none of`,
		`queues[7].flavorFungibility.preference: FlavorPreference(2) is none of [BorrowingOverPreemption PreemptionOverBorrowing]`,
		`queues[8].flavorFungibility.preference: PreemptionOverBorrowing needs whenCanBorrow and whenCanPreempt TryNextFlavor (queue "early")`,
		`queues[9].flavorFungibility.preference: PreemptionOverBorrowing needs`,
	}
	for i, w := range want {
		if i >= len(faults) || !strings.HasPrefix(faults[i].Error(), w) {
			t.Errorf("fault %d: want %s", i, w)
		}
	}
	if len(faults) != len(want) || t.Failed() {
		t.Errorf("%d faults, want %d:", len(faults), len(want))
		for _, f := range faults {
			t.Log(f)
		}
	}
}

func TestValidateAccepts(t *testing.T) {
	lends := cpu(0)
	lends.LendingLimit = quota.AtMost(7) // of a cohort: bounds its subtree, not its nominal
	threshold := queue.BorrowWithinCohort{MaxPriorityThreshold: queue.AtMostPriority(-3)}
	err := queue.Validate(
		[]queue.Cohort{{Name: "mid", Parent: "same name", Quotas: []quota.Quota{lends}}, {Name: "same name"}},
		[]queue.Queue{
			{Name: "same name", Cohort: "mid", Preemption: queue.PreemptionPolicy{BorrowWithinCohort: threshold}},
			{Name: "alone", FlavorFungibility: queue.FlavorFungibility{queue.TryNextFlavor, queue.TryNextFlavor, queue.PreemptionOverBorrowing}},
		})
	if err != nil {
		t.Error(err)
	}
}

// A chain of a hundred thousand cohorts is no reason to overflow or to take long.
func TestValidateLongChain(t *testing.T) {
	cohorts := make([]queue.Cohort, 100_000)
	for i := range cohorts {
		cohorts[i].Name = fmt.Sprintf("c%d", i)
		if i > 0 {
			cohorts[i].Parent = cohorts[i-1].Name
		}
	}
	if err := queue.Validate(cohorts, nil); err != nil {
		t.Error(err)
	}
	cohorts[0].Parent = cohorts[len(cohorts)-1].Name
	if err := queue.Validate(cohorts, nil); err == nil || len(err.Error()) > 1000 {
		t.Error("the cycle is not seen, or its text is as long as it is")
	}
}

func TestPreemptionJSON(t *testing.T) {
	p := queue.PreemptionPolicy{
		WithinClusterQueue:  queue.LowerOrNewerEqualPriority,
		ReclaimWithinCohort: queue.Any,
		BorrowWithinCohort:  queue.BorrowWithinCohort{queue.LowerPriority, queue.AtMostPriority(0)},
		MinAdmitDuration:    quota.Some(90 * time.Minute),
	}
	data, err := json.Marshal(p)
	want := `{"withinClusterQueue":"LowerOrNewerEqualPriority","minAdmitDuration":"1h30m0s","reclaimWithinCohort":"Any",` +
		`"borrowWithinCohort":{"policy":"LowerPriority","maxPriorityThreshold":0}}`
	if err != nil || string(data) != want {
		t.Errorf("%s, %v", data, err)
	}
	var again queue.PreemptionPolicy
	if err := json.Unmarshal(data, &again); err != nil || again != p {
		t.Errorf("%+v, %v", again, err)
	}
	if data, _ := json.Marshal(queue.PreemptionPolicy{}); string(data) != "{}" {
		t.Errorf("the zero value is %s", data)
	}
}

// Minimum runtimes of queues and cohorts are checked, as are weights.
func TestValidateSettings(t *testing.T) {
	negative := minruntime.Settings{Preempt: quota.Some(time.Duration(-1)), Reclaim: quota.Some(time.Duration(-2))}
	err := queue.Validate([]queue.Cohort{{Name: "c", MinRuntime: negative, FairWeight: quota.WeightOf(-1)}},
		[]queue.Queue{{Name: "q", MinRuntime: negative, FairWeight: quota.WeightOf(-1)}})
	const want = `cohorts[0].fairWeight: -1 is negative or not finite (cohort "c"); cohorts[0].minRuntime.preempt: -1ns is negative (cohort "c"); ` +
		`cohorts[0].minRuntime.reclaim: -2ns is negative (cohort "c"); queues[0].fairWeight: -1 is negative or not finite (queue "q"); ` +
		`queues[0].minRuntime.preempt: -1ns is negative (queue "q"); queues[0].minRuntime.reclaim: -2ns is negative (queue "q")`
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// A long cycle is named by its first ten.
func TestValidateLongCycle(t *testing.T) {
	for n, want := range map[int]string{10: `"c09"] are a cycle`, 11: `"c09"] and 1 more are a cycle`, 13: `"c09"] and 3 more are a cycle`} {
		var cohorts []queue.Cohort
		for i := range n {
			cohorts = append(cohorts, queue.Cohort{Name: fmt.Sprintf("c%02d", i), Parent: fmt.Sprintf("c%02d", (i+1)%n)})
		}
		if err := queue.Validate(cohorts, nil); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%d: %v, want %s", n, err, want)
		}
	}
}

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
