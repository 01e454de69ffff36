package settle_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/preemption/settle"
)

// BenchmarkSettle takes the quota of some queues of a cohort away, so that a thousand workloads of the others have to leave.
func BenchmarkSettle(b *testing.B) {
	const victims = 1000
	for _, w := range []scenario.World{scenario.Worlds[4], scenario.Large[2]} {
		st := w.State()
		s := snapshot(b, st)
		for n := 0; len(settling(b, s).Victims) < victims; n++ {
			lender := st.Queues[n].Clone()
			for i := range lender.Quotas {
				lender.Quotas[i].Nominal -= victims / 4 * st.Admitted[0].PodSets[0].Requests[i].Amount
			}
			var err error
			if s, err = s.With(preemption.SetQueue(lender)); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("queues=%d/workloads=%dk/victims=%d", w.Queues, w.Workloads()/1000, len(settling(b, s).Victims)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				settling(b, s)
			}
		})
	}
}

func settling(b *testing.B, s *preemption.Snapshot) settle.Answer {
	return must(settle.Decide(nil, s, settle.Request{Now: now}))(b)
}
