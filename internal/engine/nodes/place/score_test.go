package place_test

import (
	"math"
	"testing"

	"github.com/cedesched/cede/internal/engine/nodes/place"
)

// Victims without a victim more are better, whatever the victim is; the fields count in their order.
func TestScore(t *testing.T) {
	type victim struct {
		priority                  int32
		pods, violations, started int64
	}
	of := func(victims ...victim) place.Score {
		s := place.NoVictims
		for _, v := range victims {
			s.Add(v.priority, v.pods, v.violations, v.started)
		}
		return s
	}
	better := []struct {
		about string
		a, b  place.Score
	}{
		{"none", of(), of(victim{math.MinInt32, 1, 0, 0})},
		{"fewer violations", of(victim{9, 5, 0, 0}), of(victim{0, 1, 1, 0})},
		{"a lower highest priority", of(victim{1, 5, 1, 0}), of(victim{2, 1, 1, 0})},
		{"a smaller sum", of(victim{2, 1, 0, 0}, victim{-5, 1, 0, 0}), of(victim{2, 1, 0, 0}, victim{1, 1, 0, 0})},
		{"fewer pods", of(victim{2, 1, 0, 0}), of(victim{2, 2, 0, 0})},
		{"a later start of the highest", of(victim{2, 1, 0, 7}, victim{1, 1, 0, 0}), of(victim{2, 1, 0, 6}, victim{1, 1, 0, 9})},
		{"the earliest of the highest counts", of(victim{2, 1, 0, 7}, victim{2, 1, 0, 7}), of(victim{2, 1, 0, 9}, victim{2, 1, 0, 6})},
	}
	for _, c := range better {
		if c.a.Compare(c.b) >= 0 || c.b.Compare(c.a) <= 0 || c.a.Compare(c.a) != 0 {
			t.Errorf("%s: %+v against %+v", c.about, c.a, c.b)
		}
	}
	if a, b := of(victim{1, 1, 0, 5}, victim{3, 2, 1, 4}), of(victim{3, 2, 1, 4}, victim{1, 1, 0, 5}); a != b {
		t.Errorf("the order counts: %+v, %+v", a, b)
	}
}
