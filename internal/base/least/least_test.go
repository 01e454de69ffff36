package least_test

import (
	"math"
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
