package safe_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/preemption/safe"
)

// About each of a thousand workloads few requests are asked, or looked up among those of others.
func TestAllAsksLittle(t *testing.T) {
	s, err := preemption.NewSnapshot(scenario.Worlds[0].State())
	if err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int]int{16: 3} {
		asker, err := safe.New(nil, s, safe.Options{Now: preemptiontest.Now, MaxDecisions: most})
		if err != nil {
			t.Fatal(err)
		}
		cut := 0
		for _, a := range asker.All() {
			for _, d := range a.Doubts {
				if d == safe.Decisions {
					cut++
				}
			}
		}
		if cut > want {
			t.Errorf("%d questions are not enough for %d workloads, want %d", most, cut, want)
		}
	}
}
