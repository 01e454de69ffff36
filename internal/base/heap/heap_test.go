package heap

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func less(a, b *int) bool { return *a < *b }

// What is dropped one by one comes sorted, whatever was there at first, was pushed, and
// was made later.
func sortsByDropping(t *rapid.T) {
	h := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 20).Draw(t, "first")
	Init(h, less)
	for _, n := range rapid.SliceOfN(rapid.IntRange(0, 9), 0, 20).Draw(t, "pushed") {
		h = Push(h, n, less)
	}
	for range rapid.IntRange(0, 5).Draw(t, "changes") {
		if len(h) > 0 {
			i := rapid.IntRange(0, len(h)-1).Draw(t, "at")
			h[i] += rapid.IntRange(0, 9).Draw(t, "by")
			Fix(h, i, less)
		}
	}
	want := slices.Sorted(slices.Values(h))
	var got []int
	for len(h) > 0 {
		got = append(got, h[0])
		h = Drop(h, less)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("dropped %v, want %v", got, want)
	}
}

func TestSortsByDropping(t *testing.T) { rapid.Check(t, sortsByDropping) }
func TestAllocations(t *testing.T) {
	h := make([]int, 0, 100)
	if n := testing.AllocsPerRun(10, func() {
		h = h[:0]
		for i := range 100 {
			h = Push(h, i*37%101, less)
		}
		for len(h) > 0 {
			h = Drop(h, less)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOf(rapid.IntRange(0, 9)).Draw(t, "list")
		want := slices.Sorted(slices.Values(list))
		if Sort(list, func(a, b *int) bool { return *a < *b }); !slices.Equal(list, want) {
			t.Errorf("%v, want %v", list, want)
		}
	})
}
