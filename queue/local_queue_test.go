package queue_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/queue"
)

func TestDecayedUsage(t *testing.T) {
	for _, c := range []struct {
		before, held      float64
		elapsed, halfLife time.Duration
		want              float64
	}{
		{8, 0, time.Hour, time.Hour, 4},
		{8, 0, 3 * time.Hour, time.Hour, 1},
		{0, 8, time.Hour, time.Hour, 4},
		{8, 8, time.Minute, time.Hour, 8},
		{8, 2, 0, time.Hour, 8},
		{8, 2, -time.Hour, time.Hour, 8},
		{8, 2, time.Hour, 0, 0},
		{8, 2, math.MaxInt64, 1, 2},
	} {
		if got := queue.DecayedUsage(c.before, c.held, c.elapsed, c.halfLife); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// It makes no difference in how many steps the time passes; the usage moves towards what is
// held and not past it; more before is no less after.
func TestDecayLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, more := rapid.Float64Range(0, 1e9).Draw(t, "before"), rapid.Float64Range(0, 1e9).Draw(t, "more")
		held := rapid.Float64Range(0, 1e9).Draw(t, "held")
		a := time.Duration(rapid.Int64Range(0, int64(100*time.Hour)).Draw(t, "a"))
		b := time.Duration(rapid.Int64Range(0, int64(100*time.Hour)).Draw(t, "b"))
		half := time.Duration(rapid.Int64Range(1, int64(24*time.Hour)).Draw(t, "half-life"))
		once := queue.DecayedUsage(before, held, a+b, half)
		twice := queue.DecayedUsage(queue.DecayedUsage(before, held, a, half), held, b, half)
		const slack = 1e-6
		if math.Abs(once-twice) > slack {
			t.Fatalf("%v in one step, %v in two", once, twice)
		}
		if once < min(before, held)-slack || once > max(before, held)+slack {
			t.Fatalf("%v is not between %v and %v", once, before, held)
		}
		if queue.DecayedUsage(before+more, held, a, half) < queue.DecayedUsage(before, held, a, half) {
			t.Fatal("more before is less after")
		}
	})
}
