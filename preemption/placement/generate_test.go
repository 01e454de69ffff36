package placement_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

// The generated records reach every outcome, reason and kind of victim often enough for the
// laws to mean something.
func TestGeneratorsReachEverything(t *testing.T) {
	const n = 1500
	seen := map[string]int{}
	for seed := range n {
		record := preemptiontest.PlacementRecords().Example(seed)
		c := preemptiontest.PlacementConfigs().Example(seed)
		d := decide(t, c, snapshotOf(t, record.State), *record.Request)
		seen[d.Outcome.String()]++
		if d.Reason != 0 {
			seen[d.Reason.String()]++
		}
		for _, v := range d.Victims {
			if len(v.Pods) > 1 {
				seen["group victim"]++
			}
			if v.Violations > 0 {
				seen["violation"]++
			}
		}
		if len(d.Withdrawn) > 0 {
			seen["withdrawn"]++
		}
		if d.Outcome == placement.Preempt && record.Request.Group != "" && len(d.Victims) > 1 {
			seen["group takes several"]++
		}
	}
	for _, kind := range []string{"Fits", "Preempt", "Wait", "PolicyNever", "NoVictims", "NoRoom", "Budgets", "group victim", "violation", "withdrawn", "group takes several"} {
		if seen[kind] < n/250 {
			t.Errorf("%s: %d of %d", kind, seen[kind], n)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%s: %d", kind, seen[kind])
	}
}
