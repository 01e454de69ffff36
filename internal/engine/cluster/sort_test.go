package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func compareWithLane(a, b inLane) int {
	switch {
	case a.lane != b.lane:
		return cmp.Compare(a.lane, b.lane)
	case a.priority != b.priority:
		return cmp.Compare(a.priority, b.priority)
	case a.reserved != b.reserved:
		return cmp.Compare(b.reserved, a.reserved)
	}
	return CompareIDs(a.workload, b.workload)
}

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
		slices.SortFunc(want, compareWithLane)
		var got []inLane
		if got, room = sortByLane(list); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

func TestSortByLane(t *testing.T) { rapid.Check(t, sortsAsSlicesDo) }

func BenchmarkSortByLane(b *testing.B) {
	for _, n := range []int{50, 1000} {
		start := make([]inLane, n)
		for i := range start {
			w := &Workload{Priority: int64(i % 4), Reserved: int64(i) * 7919 % 100003, Facts: Facts{ID: fmt.Sprint(i)}}
			start[i] = inLane{Active, w.Priority, w.Reserved, w}
		}
		var room []inLane
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				_, room = sortByLane(append(room[:0], start...))
			}
		})
		b.Run(fmt.Sprintf("slices/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				room = append(room[:0], start...)
				slices.SortFunc(room, compareWithLane)
			}
		})
	}
}
