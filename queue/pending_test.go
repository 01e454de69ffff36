package queue_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

func TestOrder(t *testing.T) {
	boosted := waits("boosted", "best", 0, 9, 1)
	boosted.PriorityBoost = 7
	p := pending(t, waits("late", "best", 5, 2, 1), waits("b", "best", 5, 1, 1), waits("a", "best", 5, 1, 1), waits("low", "best", 4, 0, 1), boosted)
	for _, want := range []string{"boosted", "a", "b", "late", "low"} {
		wantHeads(t, "priority, then timestamp, then ID", p, want)
		p = must(p.Remove(want))(t)
	}
	if p.Len() != 0 {
		t.Errorf("%d left", p.Len())
	}
}

// KEP-8303, Kueue Scheduler: "BestEffortFIFO - the workload is marked as inadmissible ...
// newer workloads or workloads of lower priority can leapfrog the gated one. StrictFIFO -
// the workload is put back into the heap."
func TestGatedHeads(t *testing.T) {
	gated := func(in string) workload.Workload {
		w := waits("gated-"+in, in, 9, 0, 1)
		w.Gates = gate.Gates{Names: []string{"g"}}
		return w
	}
	p := pending(t, gated("best"), gated("strict"), waits("low-best", "best", 0, 1, 1), waits("low-strict", "strict", 0, 1, 1))
	p = requeue(t, requeue(t, p, "gated-best", queue.Gated), "gated-strict", queue.Gated)
	wantHeads(t, "a gated head", p, "low-best", "gated-strict")
	w := gated("best")
	w.Gates = w.Gates.Signalled(noon)
	wantHeads(t, "the signal alone brings nobody back", must(p.Update(w))(t), "low-best", "gated-strict")
	w.Gates = w.Gates.Opened("g", noon)
	wantHeads(t, "an opened gate does", must(p.Update(w))(t), "gated-best", "gated-strict")
	w.Gates = gate.Gates{Names: []string{"g"}}
	late := pending(t, w)
	read := headOf(late, w.ID)
	w.Gates = w.Gates.Opened("g", noon)
	late = must(must(late.Update(w))(t).Requeue(read, queue.Requeue{Reason: queue.Gated}))(t)
	wantHeads(t, "also one that was opened since the head was read", late, "gated-best")
	wantHeads(t, "as does room in the tree", p.Release("other"), "gated-best", "gated-strict")
	wantHeads(t, "and not room in another", p.Release("strict", "alone", "unknown"), "low-best", "gated-strict")
}

// KEP-8303, Kueue Scheduler: when it becomes the head again and the "gate wasn't lifted - it's
// marked as inadmissible again".
func TestGatedAgain(t *testing.T) {
	w := waits("gated", "best", 9, 0, 1)
	w.Gates = gate.Gates{Names: []string{"g"}}
	p := requeue(t, pending(t, w, waits("low", "best", 0, 1, 1)), "gated", queue.Gated)
	p = p.Release("other")
	wantHeads(t, "room in the tree brings it back", p, "gated")
	wantHeads(t, "gated again, it steps aside again", requeue(t, p, "gated", queue.Gated), "low")
}

// Of two alike workloads that signal, the answer for one does not keep the other from its turn:
// only its own answer takes its signal back.
func TestSignalsAreTakenBack(t *testing.T) {
	one, two := waits("one", "best", 9, 0, 1), waits("two", "best", 9, 0, 1)
	one.Gates = gate.Gates{Names: []string{"g"}}.Signalled(noon)
	two.Gates = one.Gates
	p := pending(t, one, two)
	wantHeads(t, "both signal", p, "one")
	head := headOf(p, "one")
	one.Gates = one.Gates.Cleared(noon)
	p = must(must(p.Update(one))(t).Requeue(head, queue.Requeue{Reason: queue.NoCandidates}))(t)
	wantHeads(t, "one has no candidates any more", p, "two")
	head = headOf(p, "two")
	two.Gates = two.Gates.Cleared(noon)
	p = must(must(p.Update(two))(t).Requeue(head, queue.Requeue{Reason: queue.NoCandidates}))(t)
	wantHeads(t, "nor has two", p)
}

func TestWhatBringsBack(t *testing.T) {
	p := pending(t, waits("first", "best", 9, 0, 5), waits("next", "best", 0, 0, 1))
	aside := requeue(t, p, "first", queue.NoCandidates)
	wantHeads(t, "aside", aside, "next")
	wantHeads(t, "changed quotas", must(aside.Configure(cohorts, queues))(t), "first")
	wantHeads(t, "a smaller request", must(aside.Update(waits("first", "best", 9, 0, 4)))(t), "first")
	wantHeads(t, "the same again", must(aside.Update(waits("first", "best", 9, 0, 5)))(t), "next")

	timed := must(p.Requeue(headOf(p, "first"), queue.Requeue{Reason: queue.NoCandidates, RetryAt: minute(5)}))(t)
	if at, ok := timed.NextAt(); !ok || !at.Equal(minute(5)) {
		t.Errorf("next at %v, %v", at, ok)
	}
	wantHeads(t, "before its time", timed.Advance(minute(5).Add(-1)), "next")
	wantHeads(t, "at its time", timed.Advance(minute(5)), "first")
	wantHeads(t, "or before, when there is room", timed.Release("best"), "first")

	alone := must(p.Requeue(headOf(p, "first"), queue.Requeue{Reason: queue.Gated, RetryAt: minute(7)}))(t)
	if at, ok := alone.NextAt(); !ok || !at.Equal(minute(7)) {
		t.Errorf("one that stepped aside by itself comes at %v, %v", at, ok)
	}
	both := must(must(alone.Add(waits("third", "other", 0, 0, 1)))(t).Requeue(headOf(must(alone.Add(waits("third", "other", 0, 0, 1)))(t), "third"), queue.Requeue{Reason: queue.NoFit, RetryAt: minute(6)}))(t)
	if at, ok := both.NextAt(); !ok || !at.Equal(minute(6)) {
		t.Errorf("the sooner of both is %v, %v", at, ok)
	}

	away := must(p.Requeue(headOf(p, "first"), queue.Requeue{Reason: queue.FailedAfterNomination, NotBefore: minute(5)}))(t)
	for name, p := range map[string]*queue.Pending{"room": away.Release("best"), "quotas": must(away.Configure(cohorts, queues))(t), "a change": must(away.Update(waits("first", "best", 9, 0, 1)))(t)} {
		wantHeads(t, "a backoff is not cut short by "+name, p, "next")
		wantHeads(t, "and ends", p.Advance(minute(5)), "first")
	}

	seen := headOf(p, "first")
	raced := must(p.Release("other").Requeue(seen, queue.Requeue{Reason: queue.NoCandidates}))(t)
	wantHeads(t, "released since the head was read", raced, "first")
}

// A preemptor whose victims are terminating stays the head of a BestEffortFIFO queue.
func TestPreemptorComesFirst(t *testing.T) {
	p := pending(t, waits("preemptor", "best", 1, 0, 1), waits("waiter", "strict", 1, 0, 1))
	p = requeue(t, requeue(t, p, "preemptor", queue.PendingPreemption), "waiter", queue.PendingPreemption)
	p = must(must(p.Add(waits("high", "best", 9, 0, 1)))(t).Add(waits("higher", "strict", 9, 0, 1)))(t)
	wantHeads(t, "stays the head; StrictFIFO goes by order", p, "preemptor", "higher")
	wantHeads(t, "not when it fails for another reason", requeue(t, p, "preemptor", queue.NoCandidates), "high", "higher")
	p = must(p.Add(waits("low", "best", 0, 0, 1)))(t)
	p = must(p.Requeue(queue.Head{Workload: waits("low", "best", 0, 0, 1)}, queue.Requeue{Reason: queue.PendingPreemption}))(t)
	wantHeads(t, "one of a queue, the last", p, "low", "higher")
	wantHeads(t, "and no longer the one before", must(p.Remove("low"))(t), "high", "higher")
}

// A workload queued nobody knows when comes after all others of its priority.
func TestUnknownQueueTimeComesLast(t *testing.T) {
	unknown := waits("a", "strict", 0, 0, 1)
	unknown.Queued = time.Time{}
	p := pending(t, unknown, waits("z", "strict", 0, 9, 1))
	wantHeads(t, "known before unknown", p, "z")
	wantHeads(t, "unknown by ID", pending(t, unknown), "a")
}
