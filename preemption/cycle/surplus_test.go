package cycle_test

import (
	"testing"

	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/quota"
)

// Replicas that leave for one head are gone for the next one: it takes others, and no more than
// it needs.
func TestSurplusLeavesOnce(t *testing.T) {
	elastic := job("elastic", "b", 0, 1, 9)
	elastic.PodSets[0].Count, elastic.PodSets[0].MinCount = 8, quota.Some(int64(2))
	s := snapshotOf(t, shared(elastic))
	result := run(t, cycle.Config{}, s, heads(job("first", "a", 5, 2, 3), job("second", "a", 5, 1, 2)))
	var counts []int64
	for _, h := range result.Heads {
		for _, v := range h.Decision.Victims {
			for _, r := range v.Replicas {
				counts = append(counts, r.Count)
			}
		}
	}
	if got, want := text(result), "first Preempt elastic, second Preempt elastic"; got != want || len(counts) != 2 || counts[0] != 2 || counts[1] != 1 {
		t.Errorf("%s, replicas %v; want %s, 2 and 1", got, counts, want)
	}
	left, ok := with(t, s, result.Edits()...).Find("elastic")
	if !ok || left.PodSets[0].Terminating != 3 {
		t.Errorf("%+v", left.PodSets)
	}
}
