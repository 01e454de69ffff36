package cycle_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/workload"
)

// "Nil: if there are such rules, no two workloads are alike": one guard is such a rule.
func TestOneGuardMakesAllUnlike(t *testing.T) {
	one, two := job("one", "a", 0, 1, 0), job("two", "a", 0, 1, 0)
	for guards, want := range map[int]bool{0: true, 1: false, 2: false} {
		c, err := cycle.New(cycle.Config{Preemption: preemption.Config{Guards: []preemption.Guard{odd{}, odd{}}[:guards]}})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Alike(one) == c.Alike(two); got != want {
			t.Errorf("with %d guards they are alike: %v, want %v", guards, got, want)
		}
	}
}

// "Alike says what the rules of this cycle read": what the caller says.
func TestAlikeIsWhatTheCallerSays(t *testing.T) {
	one, same, other := job("one", "a", 0, 1, 0), job("same", "a", 0, 1, 0), job("other", "a", 0, 1, 0)
	one.Labels, same.Labels, other.Labels = map[string]string{"team": "x"}, map[string]string{"team": "x"}, map[string]string{"team": "y"}
	c, err := cycle.New(cycle.Config{
		Preemption: preemption.Config{Guards: []preemption.Guard{odd{}}},
		Alike:      func(w workload.Workload) string { return w.Labels["team"] },
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Alike(one) != c.Alike(same) {
		t.Errorf("one team: %q and %q", c.Alike(one), c.Alike(same))
	}
	if c.Alike(one) == c.Alike(other) {
		t.Errorf("two teams are alike: %q", c.Alike(one))
	}
}
