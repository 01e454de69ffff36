package queue_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/queue"
)

// What asks for the same has no better chance: it steps aside too, and newcomers do.
func TestEqualsStepAside(t *testing.T) {
	p := pending(t, waits("a", "best", 0, 1, 5), waits("b", "best", 0, 2, 5), waits("c", "best", 0, 3, 4), waits("d", "other", 0, 3, 5))
	for reason, want := range map[queue.RequeueReason][]string{
		queue.NoFit: {"c", "d"}, queue.NoCandidates: {"c", "d"}, queue.Gated: {"b", "d"}, queue.Invalid: {"b", "d"},
		queue.FailedAfterNomination: {"a", "d"}, queue.PendingPreemption: {"a", "d"},
	} {
		wantHeads(t, reason.String(), requeue(t, p, "a", reason), want...)
	}
	wantHeads(t, "alone", must(p.Requeue(headOf(p, "a"), queue.Requeue{Reason: queue.NoFit, Alone: true}))(t), "b", "d")
	aside := requeue(t, must(p.Remove("c"))(t), "a", queue.NoFit)
	wantHeads(t, "both", aside, "d")
	wantHeads(t, "a newcomer", must(aside.Add(waits("e", "best", 0, 4, 5)))(t), "d")
	wantHeads(t, "one queued earlier has more newer equals", must(aside.Add(waits("e", "best", 0, 0, 5)))(t), "e", "d")
	wantHeads(t, "one of another priority", must(aside.Add(waits("e", "best", 1, 4, 5)))(t), "e", "d")
	wantHeads(t, "released", aside.Release("best"), "a", "d")
}

// A preemptor whose hope is gone joins those that stepped aside: the first of them and the
// earliest time count.
func TestBarsMeet(t *testing.T) {
	for _, c := range []struct {
		queued, until int
		at            int // when the first comes back
		heads         []string
	}{{5, 0, 20, []string{"b"}}, {5, 30, 20, []string{"b"}}, {5, 10, 10, []string{"b"}}, {0, 30, 20, nil}} {
		p := pending(t, waits("sticky", "best", 0, c.queued, 1))
		p = requeue(t, p, "sticky", queue.PendingPreemption)
		p = must(p.Add(waits("a", "best", 0, 2, 1)))(t)
		read := headOf(pending(t, waits("a", "best", 0, 2, 1)), "a") // before the other was the first
		p = must(p.Requeue(read, queue.Requeue{Reason: queue.NoFit, RetryAt: minute(20)}))(t)
		r := queue.Requeue{Reason: queue.NoCandidates}
		if c.until > 0 {
			r.RetryAt = minute(c.until)
		}
		p = must(p.Requeue(headOf(p, "sticky"), r))(t)
		wantHeads(t, fmt.Sprint(c, " behind the bar"), p)
		p = must(p.Add(waits("b", "best", 0, 1, 1)))(t)
		wantHeads(t, fmt.Sprint(c, " before the bar"), p, c.heads...)
		if at, _ := p.NextAt(); !at.Equal(minute(c.at)) {
			t.Errorf("%v: next at %v", c, at)
		}
	}
}
