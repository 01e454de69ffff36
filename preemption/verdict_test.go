package preemption_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
)

// "The last instant at which it is protected; ok is false when it never is, or
// always."
func TestVerdictUntil(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		verdict      preemption.Verdict
		until, never bool
	}{
		"zero":          {preemption.Verdict{}, false, false},
		"may yield":     {preemption.MayYield(), false, false},
		"the zero time": {preemption.ProtectedUntil(time.Time{}), false, false},
		"until noon":    {preemption.ProtectedUntil(noon), true, false},
		"never":         {preemption.NeverYields(), false, true},
	} {
		until, ok := c.verdict.Until()
		if ok != c.until || ok && !until.Equal(noon) || c.verdict.Never() != c.never {
			t.Errorf("%s: until %v, %v, never %v", name, until, ok, c.verdict.Never())
		}
	}
}
