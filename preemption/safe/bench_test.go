package safe_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/preemption/safe"
)

func BenchmarkUntil(b *testing.B) {
	for _, w := range []scenario.World{scenario.Worlds[0], scenario.Worlds[1], scenario.Worlds[2], scenario.Worlds[3], scenario.Worlds[4], scenario.Worlds[6]} {
		st := w.State()
		s, err := preemption.NewSnapshot(st)
		if err != nil {
			b.Fatal(err)
		}
		p, _ := preemption.New(preemption.Config{})
		name := fmt.Sprintf("queues=%d/workloads=%dk/world=%s", w.Queues, w.Workloads()/1000, w.ID)
		b.Run(name, func(b *testing.B) {
			a, _ := safe.New(p, s, safe.Options{Now: preemptiontest.Now})
			i := 0
			for b.Loop() {
				if _, err := a.Until(st.Admitted[(i*7919)%len(st.Admitted)].ID); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
		if w.Workloads() > 20_000 {
			continue // they take seconds to minutes
		}
		b.Run("all/"+name, func(b *testing.B) {
			for b.Loop() {
				a, _ := safe.New(p, s, safe.Options{Now: preemptiontest.Now})
				kinds := map[safe.Outcome]int{}
				for _, answer := range a.All() {
					kinds[answer.Outcome]++
				}
				b.Log(kinds)
			}
		})
	}
}
