package safe_test

import (
	"slices"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/preemption/safe"
)

// About each workload few requests are asked, or looked up among those of others; about one alone, few and with few turns: of a
// queue of which no request could ever take it, no turns at all.
func TestAsksLittle(t *testing.T) {
	for _, c := range []struct {
		world          scenario.World
		all, alone     int // decisions
		cutAll, cutOne int // answers for which these are too few
	}{
		{scenario.Worlds[0], 6, 6, 0, 0},
		{scenario.World{ID: "one", Queues: 100, Group: 100, Each: 20}, 6, 8, 0, 0},
		{scenario.World{ID: "tree", Queues: 100, Group: 5, Each: 10, Leaves: 4}, 48, 56, 0, 0},
	} {
		st := c.world.State()
		s, err := preemption.NewSnapshot(st)
		if err != nil {
			t.Fatal(err)
		}
		asker, err := safe.New(nil, s, safe.Options{Now: scenario.Now, MaxDecisions: c.all})
		if err != nil {
			t.Fatal(err)
		}
		if cut := cutShort(asker.All()); cut > c.cutAll {
			t.Errorf("%s: %d questions are not enough for %d workloads, want %d", c.world.ID, c.all, cut, c.cutAll)
		}
		var alone []safe.Answer
		for i := 0; i < len(st.Admitted); i += 7 {
			asker, _ := safe.New(nil, s, safe.Options{Now: scenario.Now, MaxDecisions: c.alone})
			answer, err := asker.Until(st.Admitted[i].ID)
			if err != nil {
				t.Fatal(err)
			}
			alone = append(alone, answer)
		}
		if cut := cutShort(alone); cut > c.cutOne {
			t.Errorf("%s: %d questions are not enough for %d workloads alone, want %d", c.world.ID, c.alone, cut, c.cutOne)
		}
	}
}

// cutShort counts the answers that more decisions would change.
func cutShort(list []safe.Answer) (n int) {
	for _, a := range list {
		if slices.Contains(a.Doubts, safe.Decisions) {
			n++
		}
	}
	return n
}
