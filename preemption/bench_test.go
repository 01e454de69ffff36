package preemption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cedesched/cede/internal/scenario"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
)

// The worlds of the benchmarks: flat cohorts of ten and of a hundred queues, one
// cohort of a hundred, a tree of three levels.
var worlds = []scenario.World{scenario.Worlds[1], scenario.Worlds[2], scenario.Worlds[4], scenario.Worlds[6]}

func nameOf(w scenario.World) string {
	shape := fmt.Sprintf("cohort=%d", w.Group)
	if w.Leaves > 0 {
		shape = "tree"
	}
	return fmt.Sprintf("%s/queues=%d/workloads=%dk", shape, w.Queues, w.Workloads()/1000)
}

// questions are asked of every world; each says what must come of it.
func questions(w scenario.World) []question {
	return []question{
		{"fits", scenario.Request("cq-0000", 1000, scenario.Size{}), preemption.Fits, 0},
		{"few-victims-within", scenario.Request("cq-0001", 1000, w.First(4, 1)), preemption.Preempt, 4},
		{"few-victims-reclaim", scenario.Request("cq-0000", 1000, w.First(4, -1)), preemption.Preempt, 4},
		{"many-victims", scenario.Request("cq-0000", 1000, w.First(100, -1)), preemption.Preempt, 90},
		{"impossible", scenario.Request("cq-0001", 100, w.First(w.Each/2, 1)), preemption.Impossible, 0},
		{"impossible-reclaim", scenario.Request("cq-0000", 100, w.First(1<<30, -1)), preemption.Impossible, 0},
		{"lowest-priority", scenario.Request("cq-0000", 0, w.First(1, -1)), preemption.Impossible, 0},
	}
}

type question struct {
	name    string
	request preemption.Request
	outcome preemption.Outcome
	victims int // at least
}

func BenchmarkDecide(b *testing.B) {
	for _, w := range worlds {
		s := snapshotOf(b, w.State())
		for _, q := range questions(w) {
			b.Run(q.name+"/"+nameOf(w), func(b *testing.B) {
				b.ReportAllocs()
				var d preemption.Decision
				for b.Loop() {
					d = decide(b, s, q.request)
				}
				if d.Outcome != q.outcome || len(d.Victims) < q.victims {
					b.Fatalf("%v with %d victims", d.Outcome, len(d.Victims))
				}
				b.ReportMetric(float64(len(d.Victims)), "victims")
			})
		}
	}
}

// Half of 100,000 workloads of five priorities are protected: a decision that takes a few
// of the others, and one that waits.
func BenchmarkProtected(b *testing.B) {
	w := scenario.Worlds[4]
	st := w.State()
	for i := range st.Admitted {
		st.Admitted[i].Priority = int64(i % 5)
		st.Admitted[i].ReservedAt = scenario.Now.Add(-time.Duration(30+i%61) * time.Minute)
	}
	for i := range st.Queues {
		st.Queues[i].MinRuntime.Preempt = minruntime.For(time.Hour)
		st.Queues[i].MinRuntime.Reclaim = minruntime.For(time.Hour)
	}
	s := snapshotOf(b, st)
	for _, q := range []question{
		{"few-victims", scenario.Request("cq-0001", 1000, w.First(4, 1)), preemption.Preempt, 1},
		{"wait", scenario.Request("cq-0001", 1, scenario.Size{CPU: 180_000, Memory: 1 << 30}), preemption.Wait, 0},
	} {
		b.Run(q.name+"/"+nameOf(w), func(b *testing.B) {
			b.ReportAllocs()
			var d preemption.Decision
			for b.Loop() {
				d = decide(b, s, q.request)
			}
			if d.Outcome != q.outcome || len(d.Victims) < q.victims {
				b.Fatalf("%v with %d victims", d.Outcome, len(d.Victims))
			}
		})
	}
}

func BenchmarkWith(b *testing.B) {
	for _, w := range worlds {
		st := w.State()
		s := snapshotOf(b, st)
		extra := st.Admitted[len(st.Admitted)/2].Clone()
		extra.ID = "bench/extra"
		b.Run("admit-remove/"+nameOf(w), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				edit(b, s, preemption.Admit(extra), preemption.Remove(extra.ID))
			}
		})
	}
}

func BenchmarkNewSnapshot(b *testing.B) {
	for _, w := range worlds {
		st := w.State()
		b.Run(nameOf(w), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				snapshotOf(b, st)
			}
		})
	}
}
