package guard_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/preemption/guard"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// "The last instant at which it is protected; ok is false when it never is, or
// always."
func TestVerdictUntil(t *testing.T) {
	for name, c := range map[string]struct {
		verdict      guard.Verdict
		until, never bool
	}{
		"zero":          {guard.Verdict{}, false, false},
		"may yield":     {guard.MayYield(), false, false},
		"the zero time": {guard.ProtectedUntil(time.Time{}), false, false},
		"until noon":    {guard.ProtectedUntil(noon), true, false},
		"never":         {guard.NeverYields(), false, true},
	} {
		until, ok := c.verdict.Until()
		if ok != c.until || ok && !until.Equal(noon) || c.verdict.Never() != c.never {
			t.Errorf("%s: until %v, %v, never %v", name, until, ok, c.verdict.Never())
		}
	}
}
