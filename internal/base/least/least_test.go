package least_test

import (
	"math"
	"math/bits"
	"testing"

	"github.com/cedesched/cede/internal/base/least"
)

// The step found succeeds and the one before it does not; with few steps no smaller one does.
func TestStep(t *testing.T) {
	for _, c := range []struct {
		most int64
		does func(int64) bool
		want int64 // 0: none
	}{
		{0, func(int64) bool { return true }, 0},
		{1, func(int64) bool { return true }, 1},
		{64, func(n int64) bool { return n >= 64 }, 64},
		{64, func(n int64) bool { return n == 3 }, 3},
		{64, func(int64) bool { return false }, 0},
		{65, func(n int64) bool { return n >= 17 }, 17},
		{65, func(n int64) bool { return n == 65 }, 65},
		{65, func(n int64) bool { return n == 3 }, 0}, // not found: the last does not succeed
		{math.MaxInt64, func(n int64) bool { return n >= 1<<40 }, 1 << 40},
	} {
		got, ok := least.Step(c.most, func(n int64) (int64, bool) { return n, c.does(n) })
		if ok != (c.want > 0) || ok && got != c.want {
			t.Errorf("of %d: %d, found %v; want %d", c.most, got, ok, c.want)
		}
	}
}

// The number found holds and the one after it does not, with few tries; the last that fails is the one after it.
func TestMost(t *testing.T) {
	for _, most := range []int64{0, 1, 2, 3, 7, 8, 1000, 1 << 20, math.MaxInt64} {
		for _, want := range []int64{0, 1, 2, 3, 6, 7, 8, 999, 1000, 12345, 1 << 20, math.MaxInt64 - 1, math.MaxInt64} {
			tries, failed := 0, int64(0)
			got := least.Most(most, func(n int64) bool {
				if tries++; n < 1 || n > most {
					t.Fatalf("%d of 1 to %d is tried", n, most)
				}
				if n > want {
					failed = n
				}
				return n <= want
			})
			if got != min(want, most) || got < most && failed != got+1 || tries > 2*bits.Len64(uint64(got))+1 {
				t.Errorf("of %d, want %d: %d in %d tries, last failed %d", most, want, got, tries, failed)
			}
		}
	}
}
