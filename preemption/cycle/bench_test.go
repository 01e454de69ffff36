package cycle_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
)

// One cycle with a head in each queue, each of which preempts one workload.
func BenchmarkCycle(b *testing.B) {
	for _, queues := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("queues=%d/workloads=%d", queues, queues*20), func(b *testing.B) {
			st := preemption.State{Cohorts: []queue.Cohort{{Name: "root"}}}
			var pending []queue.Head
			for i := range queues {
				name := fmt.Sprintf("q%04d", i)
				st.Queues = append(st.Queues, queue.Queue{Name: name, Cohort: "root", Quotas: gpus(20), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}})
				for j := range 20 {
					st.Admitted = append(st.Admitted, job(fmt.Sprintf("%s/%02d", name, j), name, 0, 1, j))
				}
				pending = append(pending, heads(job(name, name, 1, 1, 0))...)
			}
			s := snapshotOf(b, st)
			c := must(cycle.New(cycle.Config{}))(b)
			b.ReportAllocs()
			for b.Loop() {
				r, err := c.Run(s, pending, now)
				if err != nil || len(r.Edits()) != queues {
					b.Fatal(len(r.Edits()), err)
				}
			}
		})
	}
}
