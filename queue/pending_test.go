package queue_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

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

// "A head that is refused only because it would borrow steps aside": it is back when nobody in its tree waits within nominal quota any
// more, and then alone: who has no candidates stays where it is.
func TestBorrowersComeBack(t *testing.T) {
	p := pending(t, waits("own", "best", 9, 0, 1), waits("borrows", "other", 9, 0, 1), waits("stuck", "best", 8, 1, 1))
	p = must(p.Requeue(headOf(p, "own"), queue.Requeue{Reason: queue.NoCandidates, WithinNominal: true}))(t)
	p = requeue(t, p, "borrows", queue.Borrows)
	p = must(p.Requeue(headOf(p, "stuck"), queue.Requeue{Reason: queue.NoCandidates, Alone: true}))(t)
	wantHeads(t, "all are aside", p)
	wantHeads(t, "nobody waits within nominal quota", must(p.Remove("own"))(t), "borrows")
	wantHeads(t, "in another tree", must(must(p.Add(waits("far", "alone", 0, 0, 1)))(t).Remove("far"))(t))
}

func TestPendingErrors(t *testing.T) {
	p := pending(t, waits("a", "best", 0, 0, 1))
	for want, try := range map[string]func() (*queue.Pending, error){
		`workload.id: "a" waits already`:                   func() (*queue.Pending, error) { return p.Add(waits("a", "best", 0, 0, 1)) },
		`workload.queue: unknown queue "x" (workload "b")`: func() (*queue.Pending, error) { return p.Add(waits("b", "x", 0, 0, 1)) },
		`workload.id: no workload "b" waits`:               func() (*queue.Pending, error) { return p.Update(waits("b", "best", 0, 0, 1)) },
		`id: no workload "b" waits`:                        func() (*queue.Pending, error) { return p.Remove("b") },
		`head: no workload "b" waits; requeue.Reason: is not set; requeue.NotBefore: 1500-01-01 00:00:00 +0000 UTC is not within the years 1678 to 2262`: func() (*queue.Pending, error) {
			return p.Requeue(headOf(p, "b"), queue.Requeue{NotBefore: time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC)})
		},
		`queues: queue "best" has a waiting workload, "a"`: func() (*queue.Pending, error) { return p.Configure(nil, nil) },
		`queues[0].strategy: Strategy(7) is unknown (queue "q")`: func() (*queue.Pending, error) {
			return queue.NewPending(nil, []queue.Queue{{Name: "q", Strategy: 7}})
		},
	} {
		if _, err := try(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for want, p := range map[string]*queue.Pending{"a": p, "zero": new(queue.Pending), "nil": nil} {
		for move, try := range map[string]func() (*queue.Pending, error){
			"add":       func() (*queue.Pending, error) { return p.Add(waits("b", "none", 0, 0, 1)) },
			"update":    func() (*queue.Pending, error) { return p.Update(waits("b", "best", 0, 0, 1)) },
			"remove":    func() (*queue.Pending, error) { return p.Remove("b") },
			"admit":     func() (*queue.Pending, error) { return p.Admit("b") },
			"requeue":   func() (*queue.Pending, error) { return p.Requeue(queue.Head{}, queue.Requeue{}) },
			"configure": func() (*queue.Pending, error) { return p.Configure(nil, []queue.Queue{{}}) },
		} {
			if got, err := try(); err == nil || got != p {
				t.Errorf("%s: %s returns another than its receiver, or no error: %v", want, move, err)
			}
		}
		if _, _, ok := p.Find("b"); ok || p.Release("best").Len() != p.Len() || p.Advance(noon).Len() != p.Len() || len(p.Workloads()) != p.Len() || len(p.AlikeBy(nil).Heads()) != p.Len() {
			t.Errorf("%s: reading it finds what is not there", want)
		}
		if _, ok := p.NextAt(); ok {
			t.Errorf("%s: time brings somebody back", want)
		}
	}
}

// Who is admitted may be somebody that yields, or keep others from yielding to one that is gated.
func TestAdmissionBringsBack(t *testing.T) {
	for in, gains := range map[string]bool{"other": true, "best": false} { // best may not preempt
		for n, why := range []queue.RequeueReason{queue.NoCandidates, queue.NoFit, queue.Gated, queue.NoCandidates} {
			p := pending(t, waits("a", in, 9, 0, 5), waits("b", in, 0, 0, 1), waits("far", "strict", 0, 0, 1))
			p = must(p.Requeue(headOf(p, "a"), queue.Requeue{Reason: why, Alone: n == 3}))(t)
			read := headOf(p, "b")
			if _, at, _ := must(p.Admit("far"))(t).Find("a"); at.Activity != queue.Inadmissible {
				t.Errorf("%s, %v: an admission in another tree brings it back", in, why)
			}
			p = must(p.Admit("b"))(t)
			want := gains && (why == queue.NoCandidates || why == queue.Gated)
			if _, at, _ := p.Find("a"); (at.Activity == queue.Active) != want {
				t.Errorf("%s, %v: it stands %v", in, why, at.Activity)
			}
			late := must(must(pending(t, waits("c", in, 0, 0, 1), read.Workload).Admit("b"))(t).Requeue(
				queue.Head{Workload: waits("c", in, 0, 0, 1), EventsSeen: read.EventsSeen}, queue.Requeue{Reason: why}))(t)
			if _, at, _ := late.Find("c"); (at.Activity == queue.Active) != want {
				t.Errorf("%s, %v: one that was asked before the admission stands %v", in, why, at.Activity)
			}
		}
	}
}

// So it may by rules, whatever the policies are.
func TestAdmissionBringsBackByRules(t *testing.T) {
	p := pending(t, waits("a", "best", 9, 0, 5), waits("b", "best", 0, 0, 1))
	ruled := slices.Clone(queues)
	for i := range ruled {
		ruled[i].Rules = "rules"
	}
	for _, queues := range [][]queue.Queue{queues, ruled} {
		of := must(p.Configure(cohorts, queues))(t)
		of = must(of.Requeue(headOf(of, "a"), queue.Requeue{Reason: queue.NoCandidates, Alone: true}))(t)
		if _, at, _ := must(of.Admit("b"))(t).Find("a"); (at.Activity == queue.Active) != (queues[0].Rules != "") {
			t.Errorf("rules %q: it stands %v", queues[0].Rules, at.Activity)
		}
	}
}

// What a JSON round trip keeps of a head and of how it goes back is all there is.
func TestHeadsArePlainData(t *testing.T) {
	p := pending(t, waits("a", "best", 0, 1, 5), waits("b", "best", 0, 2, 5)).Release("best")
	head, back := headOf(p, "a"), queue.Requeue{Reason: queue.NoCandidates, RetryAt: minute(9), WithinNominal: true}
	want := must(p.Requeue(head, back))(t)
	for _, v := range []any{&head, &back} {
		data, err := json.Marshal(v)
		if err == nil {
			reflect.ValueOf(v).Elem().SetZero()
			err = json.Unmarshal(data, v)
		}
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
	}
	got := must(p.Requeue(head, back))(t)
	for _, id := range []string{"a", "b"} {
		_, x, _ := want.Find(id)
		if _, y, _ := got.Find(id); x != y || y.Activity != queue.Inadmissible {
			t.Errorf("%s stands %+v after the round trip, else %+v", id, y, x)
		}
	}
}
