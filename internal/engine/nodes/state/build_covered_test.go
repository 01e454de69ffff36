package state

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/workload"
)

// drawUnits draws single pods and groups with few and far priorities, starts and UIDs.
func drawUnits(t *rapid.T) (units []*Unit) {
	priority := rapid.SampledFrom([]int32{math.MinInt32, -1, 0, 1, 255, 256, 1 << 20, math.MaxInt32})
	started := rapid.OneOf(
		rapid.Int64Range(0, 3),
		rapid.SampledFrom([]int64{math.MinInt64 + 1, -1, 1 << timeBits, 1 << 40, JustNow - 1, JustNow}),
		rapid.Int64Range(1_700_000_000_000_000_000, 1_800_000_000_000_000_000),
	)
	uid := rapid.SampledFrom([]string{"", "a", "abcdefgh", "abcdefghi", "abcdefghj", "b"})
	for i := range rapid.IntRange(0, 100).Draw(t, "units") {
		u := &Unit{Priority: priority.Draw(t, "priority"), Started: started.Draw(t, "started"), Rank: rapid.SampledFrom([]Rank{RankOfPod, RankOfGroup, RankOfGroups}).Draw(t, "rank")}
		pods := 1
		if u.Rank > RankOfPod {
			pods = rapid.IntRange(1, 3).Draw(t, "pods")
		}
		for k := range pods {
			u.Pods = append(u.Pods, &Pod{Facts: workload.Pod{ID: fmt.Sprint(i, "/", k), UID: uid.Draw(t, "uid")}})
		}
		u.Covered = true
		units = append(units, u)
	}
	return units
}

// TestSortCovered: to sort by keys is to sort by importance.
func TestSortCovered(t *testing.T) { rapid.Check(t, sortsAsCompared) }

func sortsAsCompared(t *rapid.T) {
	units := drawUnits(t)
	var list coveredUnits
	for _, u := range units {
		list.add(u)
	}
	slices.SortFunc(units, CompareUnits)
	for i, x := range list.sort() {
		if x.unit != units[i] {
			t.Fatalf("unit %d of %d is %v, want %v", i, len(units), x.unit.Pods[0].id(), units[i].Pods[0].id())
		}
	}
}
