package preemption_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

const (
	guaranteed = 10 * time.Minute
	cycle      = time.Minute
	turn       = guaranteed + cycle
)

// rotation runs n equal workloads that never end in a queue with room for k: at each
// cycle the head of the queue is decided about until it does not get in; victims stop at
// once and wait again. It returns what is wrong with the turns that they got.
func rotation(t failer, p *preemption.Preemptor, arrivals []time.Duration, k int64) (faults []string) {
	t.Helper()
	st := shared(guaranteed)
	st.Queues[0].Quotas = gpus(k)
	s := snapshotOf(t, st)
	n := len(arrivals)
	rounds := (n + int(k) - 1) / int(k)
	since := map[string]time.Time{} // when it last began to wait, or to run
	evictions := map[string][]time.Time{}
	turns := map[string]int{}
	var waiting []workload.Workload
	for i, a := range arrivals {
		w := job(fmt.Sprintf("w%02d", i), "a", 10, 1, now.Add(a))
		w.ReservedAt = time.Time{}
		waiting = append(waiting, w)
		since[w.ID] = w.Queued
	}
	complain := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	end := now.Add(slices.Max(arrivals) + time.Duration(3*rounds+1)*turn)
	for at := now; at.Before(end) && len(faults) == 0; at = at.Add(cycle) {
		for len(faults) == 0 {
			slices.SortFunc(waiting, func(a, b workload.Workload) int {
				return cmp.Or(a.Queued.Compare(b.Queued), cmp.Compare(a.ID, b.ID))
			})
			if len(waiting) == 0 || waiting[0].Queued.After(at) {
				break
			}
			head := waiting[0]
			d := must(p.Decide(s, preemption.Request{Workload: head, Now: at}))(t)
			if d.Outcome == preemption.Wait || d.Outcome == preemption.Impossible {
				break
			}
			for _, v := range d.Victims {
				ran := at.Sub(since[v.Workload])
				if ran < guaranteed {
					complain("%s ran for %v only", v.Workload, ran)
				}
				if e := evictions[v.Workload]; len(e) > 0 && at.Sub(e[len(e)-1]) < turn {
					complain("%s is evicted twice within a turn", v.Workload)
				}
				evictions[v.Workload] = append(evictions[v.Workload], at)
				w, _ := s.Find(v.Workload)
				w.Queued, w.ReservedAt = queuedAgain(v, w.Queued, at), time.Time{}
				s = edit(t, s, preemption.Remove(w.ID))
				waiting = append(waiting, w)
				since[w.ID] = at
			}
			waiting = waiting[1:]
			head.ReservedAt = at
			s = edit(t, s, preemption.Admit(head))
			since[head.ID] = at
			turns[head.ID]++
		}
		for _, w := range waiting {
			if waited := at.Sub(since[w.ID]); waited > time.Duration(rounds)*turn {
				complain("%s waits for %v", w.ID, waited)
			}
		}
	}
	for i := range arrivals {
		if id := fmt.Sprintf("w%02d", i); turns[id] == 0 && len(faults) == 0 {
			complain("%s never runs", id)
		}
	}
	return faults
}

func drawArrivals(t *rapid.T) ([]time.Duration, int64) {
	arrivals := make([]time.Duration, rapid.IntRange(1, 9).Draw(t, "n"))
	for i := range arrivals {
		arrivals[i] = time.Duration(rapid.IntRange(0, 30).Draw(t, "arrival")) * cycle / 2
	}
	return arrivals, rapid.Int64Range(1, 4).Draw(t, "k")
}

// n equal workloads, room for k, any arrival order: everybody runs, everybody gets at
// least minAdmitDuration a turn, nobody waits more than ceil(n/k) turns, no workload is
// evicted twice within a turn.
func TestRotation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arrivals, k := drawArrivals(t)
		if faults := rotation(t, new(preemption.Preemptor), arrivals, k); len(faults) > 0 {
			t.Fatalf("%v", faults)
		}
	})
}

// queuedAgain returns the queue-order timestamp with which a victim waits again.
func queuedAgain(v preemption.Victim, queued, evictedAt time.Time) time.Time {
	w, _ := v.Requeued(workload.Workload{ID: v.Workload, Queued: queued}, evictedAt)
	return w.Queued
}

// A workload that yielded for another reason keeps its place.
func TestRequeued(t *testing.T) {
	for reason, want := range map[preemption.VictimReason]time.Time{
		preemption.InClusterQueueTimeBased: now,
		preemption.InClusterQueue:          started(9),
		preemption.InCohortReclamation:     started(9),
	} {
		if got := queuedAgain(preemption.Victim{Reason: reason, PreemptorQueued: started(5)}, started(9), now); !got.Equal(want) {
			t.Errorf("%v: %v, want %v", reason, got, want)
		}
	}
}

// Where the preemptor's timestamp lies ahead of the clock that evicts, the victim still
// comes after it; else it would be the older one and take its room back.
func TestRequeuedDespiteClockSkew(t *testing.T) {
	victim := job("first", "a", 10, 4, started(61))
	ahead := at(0, 4)
	ahead.Workload.Queued = now.Add(5 * time.Minute)
	d := decide(t, snapshotOf(t, shared(time.Hour, victim)), ahead)
	if got, want := text(d), "Preempt: first InClusterQueueTimeBased"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	if !d.Victims[0].PreemptorQueued.Equal(ahead.Workload.Queued) {
		t.Errorf("%v", d.Victims[0].PreemptorQueued)
	}
	ahead.Workload.ID, ahead.Workload.ReservedAt = "ahead", now
	back := at(1, 4)
	back.Workload.Queued = queuedAgain(d.Victims[0], victim.Queued, now)
	if !back.Workload.Queued.Equal(ahead.Workload.Queued) {
		t.Errorf("waits again from %v, want %v", back.Workload.Queued, ahead.Workload.Queued)
	}
	if d := decide(t, snapshotOf(t, shared(time.Hour, ahead.Workload)), back); d.Possible() {
		t.Errorf("the victim takes its room back: %+v", d)
	}
}

// "Zero: not known, counts as the newest": it yields to all that are known and preempts none of
// them; two of them leave each other alone.
func TestUnknownQueueTimeIsTheNewest(t *testing.T) {
	never := time.Time{}
	for _, c := range []struct {
		name       string
		runs, asks time.Time
		want       string
	}{
		{name: "the running one is not known", runs: never, asks: now, want: "Preempt: e InClusterQueue"},
		{name: "the pending one is not known", runs: now, asks: never, want: "Impossible: WithinClusterQueue a e"},
		{name: "neither is", runs: never, asks: never, want: "Impossible: WithinClusterQueue a e"},
	} {
		e := job("e", "a", 10, 4, started(5))
		e.Queued, e.ReservedAt = c.runs, never
		st, r := shared(0, e), pending("a", 10, 4)
		r.Workload.Queued, r.Workload.Created = c.asks, never
		config := preemption.Config{}
		d := decideWith(t, config, snapshotOf(t, st), r)
		if text(d) != c.want || !d.RetryAt.IsZero() {
			t.Errorf("%s: %s, again at %v; want %s", c.name, text(d), d.RetryAt, c.want)
		}
		verified(t, st, r, config, d)
		agrees(t, config, st, r, d)
	}
}

// A victim whose time was over does not come back as the older one of a preemptor that counts
// as the newest.
func TestVictimOfUnknownPreemptorGoesToTheBack(t *testing.T) {
	st := shared(time.Hour, job("e", "a", 10, 4, started(61)))
	r := pending("a", 10, 4)
	r.Workload.Queued = time.Time{}
	d := decide(t, snapshotOf(t, st), r)
	if text(d) != "Preempt: e InClusterQueueTimeBased" {
		t.Fatal(text(d))
	}
	if at := queuedAgain(d.Victims[0], started(61), now); !at.IsZero() {
		t.Errorf("queued at %v", at)
	}
	back := job("e", "a", 10, 4, started(61))
	back.Queued = queuedAgain(d.Victims[0], back.Queued, now)
	runs := r.Workload.Clone()
	runs.ReservedAt = now
	again := preemption.Request{Workload: back, Now: now.Add(time.Minute)}
	if d := decide(t, snapshotOf(t, shared(time.Hour, runs)), again); d.Outcome != preemption.Wait {
		t.Errorf("it preempts its preemptor: %s", text(d))
	}
}
