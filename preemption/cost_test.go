package preemption_test

import "testing"

// A decision allocates its result and nothing else: the victims are one allocation.
func TestDecideAllocatesItsResult(t *testing.T) {
	w := worlds[0]
	s := snapshotOf(t, w.State())
	for _, q := range questions(w) {
		if q.victims == 0 {
			continue
		}
		d := decide(t, s, q.request) // fills the pool
		if len(d.Victims) < q.victims {
			t.Fatalf("%s: %v with %d victims", q.name, d.Outcome, len(d.Victims))
		}
		if n := testing.AllocsPerRun(100, func() { decide(t, s, q.request) }); n > 1 && !raceEnabled {
			t.Errorf("%s: %v allocations, want 1", q.name, n)
		}
	}
}
