package queue_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// A head becomes inadmissible, its tree is released, it becomes active again: with n
// workloads waiting.
func BenchmarkPending(b *testing.B) {
	for _, n := range []int{100, 10_000, 100_000} {
		b.Run(fmt.Sprintf("waiting=%d", n), func(b *testing.B) {
			p := pending(b)
			for i := range n {
				p = must(p.Add(waits(fmt.Sprintf("w%06d", i), []string{"best", "other", "strict"}[i%3], int64(i%7), i, int64(i))))(b)
			}
			first := headOf(p, heads(p)[0])
			b.ReportAllocs()
			for b.Loop() {
				aside, err := p.Requeue(first, queue.Requeue{Reason: queue.NoCandidates})
				if err != nil || aside.Release("best").Len() != n {
					b.Fatal(err)
				}
			}
		})
	}
}

// The cost of a move is that of one path: with a thousand times as many waiting, all of
// which step aside and come back, it allocates a little more, not a thousand times.
func TestMovesCopyPaths(t *testing.T) {
	allocs := func(n int) float64 {
		p := pending(t)
		for i := range n {
			p = must(p.Add(waits(fmt.Sprintf("w%06d", i), "best", 1, i, 1)))(t)
		}
		head := p.Heads()[0]
		w := waits("x", "best", 3, 5, 9)
		return testing.AllocsPerRun(20, func() {
			next, _ := p.Add(w)
			next, _ = next.Requeue(queue.Head{Workload: workload.Workload{ID: "x"}}, queue.Requeue{Reason: queue.Gated})
			next, _ = next.Remove("x")
			if next, _ = next.Requeue(head, queue.Requeue{Reason: queue.NoFit}); len(next.Heads()) != 0 || len(next.Release("best").Heads()) != 1 {
				t.Fatal("they did not step aside, or not come back")
			}
		})
	}
	if few, many := allocs(20), allocs(20_000); many > 4*few {
		t.Errorf("%v allocations with 20 waiting, %v with 20000", few, many)
	}
}
