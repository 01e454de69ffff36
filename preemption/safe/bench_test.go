package safe_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/preemption/safe"
)

func BenchmarkUntil(b *testing.B) {
	worlds := append(scenario.Worlds[:6:6], scenario.World{ID: "one", Queues: 1000, Group: 1000, Each: 100})
	for _, w := range worlds {
		st := w.State()
		s, err := preemption.NewSnapshot(st)
		if err != nil {
			b.Fatal(err)
		}
		p, _ := preemption.New(preemption.Config{})
		name := fmt.Sprintf("queues=%d/workloads=%dk/world=%s", w.Queues, w.Workloads()/1000, w.ID)
		b.Run(name, func(b *testing.B) {
			a, _ := safe.New(p, s, safe.Options{Now: scenario.Now})
			i := 0
			for b.Loop() {
				if _, err := a.Until(st.Admitted[(i*7919)%len(st.Admitted)].ID); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
		b.Run("all/"+name, func(b *testing.B) {
			for b.Loop() {
				a, _ := safe.New(p, s, safe.Options{Now: scenario.Now})
				kinds := map[safe.Outcome]int{}
				for _, answer := range a.All() {
					kinds[answer.Outcome]++
				}
				b.Log(kinds)
			}
		})
	}
}
