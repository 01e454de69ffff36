package queue_test

import (
	"testing"

	"github.com/cedesched/cede/queue"
)

// An inactive queue has no head; once it is active again, it has.
func TestInactiveQueueHasNoHead(t *testing.T) {
	p := pending(t, waits("a", "best", 0, 0, 1), waits("b", "best", 0, 1, 1), waits("c", "other", 0, 2, 1))
	heads := func(p *queue.Pending) (ids string) {
		for _, h := range p.Heads() {
			ids += h.Workload.ID
		}
		return ids
	}
	stopped := append([]queue.Queue(nil), queues...)
	stopped[1].Inactive = true
	without := must(p.Configure(cohorts, stopped))(t)
	if got := heads(without); got != "c" {
		t.Errorf("heads %q, want c", got)
	}
	if got := heads(must(without.Configure(cohorts, queues))(t)); got != "ac" {
		t.Errorf("heads %q, want ac", got)
	}
}
