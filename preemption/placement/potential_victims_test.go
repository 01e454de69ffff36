package placement_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/preemption/placement"
)

// Potential victims are of strictly lower priority: those first that violate a budget, of
// both kinds the most important first.
func TestPotentialVictims(t *testing.T) {
	s := snapshotOf(t, world(t, "n1 9: a/1/protected b/2 c/3/protected d/10 e/1/g f/1/g/protected"))
	var got []string
	for _, p := range new(placement.Preemptor).PotentialVictims(s, 10) {
		got = append(got, fmt.Sprintf("%s %d %d", p.Pods[0].ID, len(p.Pods), p.Violations))
	}
	if want := "[c 1 1 e 2 1 a 1 1 b 1 0]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
}
