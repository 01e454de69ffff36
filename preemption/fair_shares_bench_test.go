package preemption_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
)

func BenchmarkReclaim(b *testing.B) {
	for _, alike := range []bool{true, false} {
		st, asks := scenario.Reclaiming(100_000, alike, 1)
		s := snapshotOf(b, st)
		p, err := preemption.New(preemption.Config{Sharing: preemption.KAI})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("alike=%v/queues=1000/pods=100k", alike), func(b *testing.B) {
			b.ReportAllocs()
			var d preemption.Decision
			for b.Loop() {
				d, err = p.Decide(s, asks)
			}
			if err != nil || d.Outcome != preemption.Preempt {
				b.Fatal(d.Outcome, err)
			}
			b.ReportMetric(float64(len(d.Victims)), "victims")
		})
	}
}

func BenchmarkSetFairShareQueue(b *testing.B) {
	st, _ := scenario.Reclaiming(100_000, false, 1)
	s := snapshotOf(b, st)
	b.Run("queues=1000/pods=100k", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			q := &st.FairShares.Queues[len(st.FairShares.Queues)-1-i*37%500]
			for r := range q.Claims {
				q.Claims[r].Request += 1000
			}
			s = edit(b, s, preemption.SetFairShareQueue(*q))
		}
	})
}
