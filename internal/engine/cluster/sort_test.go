package cluster

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// sortByLane sorts as the library does.
func sortsAsSlicesDo(t *rapid.T) {
	var list, room []inLane
	for range rapid.IntRange(1, 3).Draw(t, "times") {
		list = room[:0]
		for i := range rapid.IntRange(0, 100).Draw(t, "length") {
			w := &Workload{
				Priority: rapid.Int64Range(-1, 1).Draw(t, "priority"), Reserved: rapid.Int64Range(-1, 1).Draw(t, "reserved"),
				Facts: Facts{ID: fmt.Sprint(i), UID: rapid.StringMatching("[ab]?").Draw(t, "uid")},
			}
			list = append(list, inLane{rapid.SampledFrom([]Lane{Active, Evicted}).Draw(t, "lane"), w.Priority, w.Reserved, w})
		}
		want := slices.Clone(list)
		slices.SortFunc(want, func(a, b inLane) int {
			if a.lane != b.lane {
				return int(a.lane - b.lane)
			}
			return compareInLane(a.workload, b.workload)
		})
		var got []inLane
		if got, room = sortByLane(list); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

func TestSortByLane(t *testing.T) { rapid.Check(t, sortsAsSlicesDo) }
