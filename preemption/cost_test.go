package preemption_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
)

// A decision allocates its result and nothing else.
func TestDecideAllocatesItsResult(t *testing.T) {
	s := snapshotOf(t, flat(100, 10_000))
	for _, c := range []struct {
		name    string
		request preemption.Request
		most    float64
	}{
		{"few victims", asks("queue-0001", 1000, 1000), 1},
		{"reclaim", asks("queue-0000", 1000, 2000), 1},
		{"many victims", asks("queue-0000", 1000, lent(100)), 1},
		{"impossible", asks("queue-0001", 100, 1_000_000), 1},
	} {
		decide(t, s, c.request) // fills the pool
		n := testing.AllocsPerRun(100, func() { decide(t, s, c.request) })
		if n > c.most && !raceEnabled {
			t.Errorf("%s: %v allocations, want at most %v", c.name, n, c.most)
		}
	}
}
