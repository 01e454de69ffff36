package cycle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func gpus(nominal int64) []quota.Quota {
	return []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: nominal}}
}

// job is a workload that asks for GPUs, queued some minutes ago.
func job(id, in string, priority, gpus int64, minutesAgo int) workload.Workload {
	at := now.Add(-time.Duration(minutesAgo) * time.Minute)
	return workload.Workload{ID: id, Queue: in, Priority: priority, Queued: at, ReservedAt: at,
		PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: gpus}}}}}
}

func evicted(w workload.Workload) workload.Workload {
	w.Evicted = true
	return w
}

func heads(list ...workload.Workload) (heads []queue.Head) {
	for _, w := range list {
		w.ReservedAt = time.Time{}
		heads = append(heads, queue.Head{Workload: w})
	}
	return heads
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

func snapshotOf(t failer, st preemption.State) *preemption.Snapshot {
	t.Helper()
	return must(preemption.NewSnapshot(st))(t)
}

func run(t failer, c cycle.Config, s *preemption.Snapshot, heads []queue.Head) cycle.Result {
	t.Helper()
	runner := must(cycle.New(c))(t)
	return must(runner.Run(s, heads, now))(t)
}

func with(t failer, s *preemption.Snapshot, edits ...preemption.Edit) *preemption.Snapshot {
	t.Helper()
	return must(s.With(edits...))(t)
}

func text(r cycle.Result) string {
	var parts []string
	for _, v := range r.Heads {
		part := fmt.Sprintf("%s %v", v.Head.Workload.ID, v.Outcome)
		for _, victim := range v.Decision.Victims {
			if v.Outcome != cycle.Wait {
				part += " " + victim.Workload
			}
		}
		if v.Outcome == cycle.Wait || v.Outcome == cycle.Inadmissible {
			part += " " + v.Reason.String()
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// shared is a cohort of two queues of 4 GPUs each, which preempt in every permitted way,
// and what runs in them.
func shared(admitted ...workload.Workload) preemption.State {
	policy := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}
	return preemption.State{Cohorts: []queue.Cohort{{Name: "root"}}, Admitted: admitted, Queues: []queue.Queue{
		{Name: "a", Cohort: "root", Quotas: gpus(4), Preemption: policy}, {Name: "b", Cohort: "root", Quotas: gpus(4), Preemption: policy},
	}}
}

// never is the same without any right to preempt.
func never(st preemption.State) preemption.State {
	for i := range st.Queues {
		st.Queues[i].Preemption = queue.PreemptionPolicy{}
	}
	return st
}

func TestCycle(t *testing.T) {
	gated := job("gated", "a", 9, 4, 0)
	gated.Gates.Names = []string{gate.MultiKueue}
	timed := shared(job("old", "a", 0, 4, 9))
	timed.Queues[0].Preemption.WithinClusterQueue = queue.LowerOrNewerEqualPriority
	if err := timed.Queues[0].Preemption.MinAdmitDuration.UnmarshalJSON([]byte(`"1h"`)); err != nil {
		t.Fatal(err)
	}
	timed.Queues[0].Cohort = ""
	for _, c := range []struct {
		rule  string
		state preemption.State
		heads []queue.Head
		want  string
	}{
		{"KEP-83, sorting: flavors that don't borrow first", shared(job("run", "b", 0, 4, 9)),
			heads(job("borrows", "b", 9, 1, 0), job("own", "a", 0, 4, 0)), "own Admit, borrows Wait FailedAfterNomination"},
		{"highest priority first, then older, then ID", shared(),
			heads(job("x", "a", 0, 1, 5), job("y", "b", 0, 1, 5), job("z", "b", 0, 1, 6), job("w", "b", 1, 1, 0)), "w Admit, z Admit, x Admit, y Admit"},
		{"preemption to recover quota takes preference over borrowing", shared(job("b1", "b", 5, 4, 9), job("b2", "b", 0, 2, 9)),
			heads(job("borrows", "b", 9, 2, 0), job("reclaims", "a", 0, 4, 0)), "reclaims Preempt b2, borrows Wait FailedAfterNomination"},
		{"who preempts keeps the room from those after it", shared(job("low", "a", 0, 2, 9), job("full", "b", 5, 4, 9)),
			heads(job("high", "a", 9, 4, 0), job("low2", "b", 0, 2, 0)), "high Preempt low, low2 Wait FailedAfterNomination"},
		{"what a large victim leaves over is no room before it is gone", shared(job("large", "a", 0, 8, 9)),
			heads(job("first", "a", 9, 4, 0), job("second", "b", 0, 4, 0)), "first Preempt large, second Wait PendingPreemption"},
		{"no second eviction while the first is under way", shared(evicted(job("going", "b", 0, 6, 9))),
			heads(job("in", "a", 0, 4, 0)), "in Wait PendingPreemption"},
		{"nor for those whose right it would not be", never(shared(evicted(job("going", "b", 0, 6, 9)))),
			heads(job("in", "a", 0, 4, 0)), "in Wait PendingPreemption"},
		{"a gated head preempts nobody and keeps nobody from anything", shared(job("low", "a", 0, 4, 9), job("mid", "b", 5, 2, 9)),
			heads(gated, job("in", "b", 0, 2, 0)), "gated Gated low, in Admit"},
		{"time alone makes room", timed, heads(job("equal", "a", 0, 4, 4)), "equal Wait NoCandidates"},
		{"more than there is", shared(), heads(job("huge", "a", 9, 9, 0)), "huge Inadmissible NoFit"},
		{"nobody may yield, and what is left of the nominal is kept", never(shared(job("run", "b", 0, 6, 9))),
			heads(job("in", "a", 0, 4, 0), job("borrows", "b", 9, 2, 0)), "in Inadmissible NoCandidates, borrows Wait FailedAfterNomination"},
	} {
		if got := text(run(t, cycle.Config{}, snapshotOf(t, c.state), c.heads)); got != c.want {
			t.Errorf("%s: %s, want %s", c.rule, got, c.want)
		}
	}
}

// Overlapping sets of victims are computed again, not skipped: a hundred preemptors in a
// hundred queues, each of which alone would take the same first victims, get disjoint
// ones in one cycle.
func TestAHundredPreemptors(t *testing.T) {
	const n = 100
	st := preemption.State{Cohorts: []queue.Cohort{{Name: "root"}}, Queues: []queue.Queue{{Name: "lender", Cohort: "root"}}}
	var pending []queue.Head
	for i := range n {
		name := fmt.Sprintf("q%03d", i)
		st.Queues = append(st.Queues, queue.Queue{Name: name, Cohort: "root", Quotas: gpus(2), Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}})
		st.Admitted = append(st.Admitted, job(fmt.Sprintf("v%03d-1", i), "lender", int64(i%3), 1, i), job(fmt.Sprintf("v%03d-2", i), "lender", 5, 1, i))
		pending = append(pending, heads(job(name, name, 0, 2, i%7))...)
	}
	s := snapshotOf(t, st)
	r := run(t, cycle.Config{}, s, pending)
	taken := map[string]bool{}
	for _, v := range r.Heads {
		if v.Outcome != cycle.Preempt || len(v.Decision.Victims) != 2 {
			t.Fatalf("%s: %v of %v", v.Head.Workload.ID, v.Outcome, v.Decision.Victims)
		}
		for _, victim := range v.Decision.Victims {
			if taken[victim.Workload] {
				t.Fatalf("%s is promised twice", victim.Workload)
			}
			taken[victim.Workload] = true
		}
	}
	if s = with(t, s, r.Edits()...); len(s.Terminating()) != 2*n {
		t.Fatalf("%d are told to stop", len(s.Terminating()))
	}
	for i := range pending {
		pending[i].Preempting = true
	}
	if again := run(t, cycle.Config{}, s, pending); len(again.Edits()) > 0 {
		t.Fatalf("the next cycle: %s", text(again))
	}
	for _, id := range s.Terminating() {
		s = with(t, s, preemption.Remove(id))
	}
	last := run(t, cycle.Config{}, s, pending)
	if len(last.Edits()) != n || slices.ContainsFunc(last.Heads, func(v cycle.HeadResult) bool { return v.Outcome != cycle.Admit }) {
		t.Fatalf("with the victims gone: %s", text(last))
	}
}

// What a cycle promises it does not take again, though the policies would permit it; and
// who was promised room in an earlier cycle is served first, as long as it is there.
func TestPromises(t *testing.T) {
	first := heads(job("first", "a", 0, 4, 0))
	first[0].Preempting = true
	st := shared(evicted(job("going", "b", 0, 4, 9)), job("low", "b", 0, 1, 9))
	st.Queues[0].Quotas, st.Queues[1].Quotas = nil, gpus(5)
	got := text(run(t, cycle.Config{}, snapshotOf(t, st), append(heads(job("reclaims", "b", 9, 5, 0)), first...)))
	if want := "first Wait PendingPreemption, reclaims Wait FailedAfterNomination"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	first[0].Preempting = false
	got = text(run(t, cycle.Config{}, snapshotOf(t, st), append(heads(job("reclaims", "b", 9, 5, 0)), first...)))
	if want := "reclaims Preempt low, first Wait FailedAfterNomination"; got != want {
		t.Errorf("not promised: %s, want %s", got, want)
	}
}

func TestErrors(t *testing.T) {
	if _, err := cycle.New(cycle.Config{Borrowing: 9, Preemption: preemption.Config{Search: 9}}); err == nil ||
		err.Error() != "config.Search: Search(9) is unknown; config.Borrowing: 9 is unknown" {
		t.Errorf("%v", err)
	}
	c, _ := cycle.New(cycle.Config{})
	_, err := c.Run(snapshotOf(t, shared()), heads(job("x", "none", 0, 1, 0), job("y", "a", 0, 1, 0), job("y", "b", 0, 1, 0), job("\x00", "b", 0, 1, 0)), now)
	const want = `heads[0].queue: unknown queue "none"; heads[2].id: "y" is also the ID of heads[1]; heads[3].id: "\x00" begins with the byte 0`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// How heads go back, and victims wait again.
func TestRequeue(t *testing.T) {
	st := shared(job("old", "a", 0, 4, 90), job("full", "b", 5, 3, 9))
	r := run(t, cycle.Config{}, snapshotOf(t, st), heads(job("in", "a", 9, 4, 0), job("fits", "b", 0, 1, 0)))
	for _, v := range r.Heads {
		back, ok := v.Requeue()
		if ok == (v.Outcome == cycle.Admit) || ok && back != (queue.Requeue{Reason: queue.PendingPreemption, Alone: v.Alone}) {
			t.Errorf("%s goes back %v, %+v", v.Head.Workload.ID, ok, back)
		}
	}
	w := job("old", "a", 0, 4, 90)
	w.PodSets[0].Requests[0].Flavor, w.ReservedAt = "", time.Time{}
	w.Gates = gate.Gates{Names: []string{"g"}}.Opened("g", now)
	for reason, queued := range map[preemption.VictimReason]time.Time{
		preemption.InClusterQueue: w.Queued, preemption.InClusterQueueTimeBased: now,
	} {
		victim := preemption.Victim{Workload: "old", Reason: reason, PreemptorQueued: w.Queued}
		again, err := victim.Requeued(w, now)
		want := w
		want.Queued, want.Gates = queued, w.Gates.Evicted(now)
		if diff := cmp.Diff(want, again); err != nil || diff != "" || !again.Gates.AnyClosed() {
			t.Errorf("%v: %v\n%s", reason, err, diff)
		}
		for _, ran := range []workload.Workload{evicted(job("old", "a", 0, 4, 90)), job("another", "a", 0, 4, 90), {ID: "another", Queue: "a"}, {ID: "old", ReservedAt: now}} {
			if _, err := victim.Requeued(ran, now); err == nil {
				t.Errorf("%v: %+v is taken as submitted", reason, ran)
			}
		}
	}
}

// Kueue's own story: "Should not block lower priority workloads while the preemption gate
// is closed". Of 2 CPUs 1.5 are taken by one of low priority; a gated one of high priority
// waits; another of low priority takes the rest, under BestEffortFIFO.
func TestGatedHeadIsOvertaken(t *testing.T) {
	for strategy, want := range map[queue.Strategy]string{queue.BestEffortFIFO: "high Gated low; low2 Admit; ", queue.StrictFIFO: "high Gated low; high Gated low; "} {
		queues := []queue.Queue{{Name: "q", Quotas: gpus(2000), Strategy: strategy, Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}}
		s := snapshotOf(t, preemption.State{Queues: queues, Admitted: []workload.Workload{job("low", "q", 0, 1500, 9)}})
		pending, err := queue.NewPending(nil, queues)
		if err != nil {
			t.Fatal(err)
		}
		high := job("high", "q", 9, 1000, 5)
		high.Gates.Names = []string{"testgate"}
		for _, w := range []workload.Workload{high, job("low2", "q", 0, 500, 1)} {
			if pending, err = pending.Add(w); err != nil {
				t.Fatal(err)
			}
		}
		story := ""
		for range 2 {
			r := run(t, cycle.Config{}, s, pending.Heads())
			story += text(r) + "; "
			for _, v := range r.Heads {
				if pending, err = v.Return(pending, now); err != nil {
					t.Fatal(err)
				}
			}
		}
		if story != want {
			t.Errorf("%v: %s, want %s", strategy, story, want)
		}
	}
}

// A head without flavors is assigned them, and keeps them when it is decided about again:
// b takes the only free GPU of "f", so that c, which would fit there too, is pinned to it
// and waits, and is asked again in the next cycle.
func TestFlavorsAreAssigned(t *testing.T) {
	open := func(id string, minutesAgo int) workload.Workload {
		w := job(id, "q", 10, 1, minutesAgo)
		w.PodSets[0].Requests[0].Flavor = ""
		return w
	}
	two := append(gpus(2), quota.Quota{Flavor: "g", Resource: "gpu", Nominal: 1})
	st := preemption.State{
		Cohorts:  []queue.Cohort{{Name: "c"}},
		Queues:   []queue.Queue{{Name: "q", Cohort: "c", Quotas: two}, {Name: "r", Cohort: "c", Quotas: append(gpus(0), quota.Quota{Flavor: "g", Resource: "gpu"})}},
		Admitted: []workload.Workload{job("old", "q", 10, 1, 60)},
	}
	s := snapshotOf(t, st)
	first := open("b", 9)
	other := open("c", 8)
	other.Queue = "r"
	result := run(t, cycle.Config{}, s, heads(first, other))
	next := must(s.With(result.Edits()...))(t)
	b, admitted := next.Find("b")
	if !admitted || b.PodSets[0].Requests[0].Flavor != "f" {
		t.Errorf("b is admitted: %v, %+v", admitted, b)
	}
	for _, v := range result.Heads {
		if v.Head.Workload.ID == "c" && (v.Outcome != cycle.Wait || v.Reason != queue.FailedAfterNomination) {
			t.Errorf("c: %v, %v", v.Outcome, v.Reason)
		}
	}
}

// "NoFit: more than its queue could ever have", in no flavor; where it could have it in one
// of them, nobody may yield: NoCandidates.
func TestNeverInAnyFlavor(t *testing.T) {
	flavor := func(name string, nominal int64) quota.Quota {
		return quota.Quota{Flavor: name, Resource: "gpu", Nominal: nominal}
	}
	for _, c := range []struct {
		quotas   []quota.Quota
		resource string
		amount   int64
		want     string
	}{
		{[]quota.Quota{flavor("f", 4)}, "gpu", 4, "asks Inadmissible NoCandidates"},
		{[]quota.Quota{flavor("f", 4)}, "gpu", 5, "asks Inadmissible NoFit"},
		{[]quota.Quota{flavor("f", 4), flavor("g", 2)}, "gpu", 4, "asks Inadmissible NoCandidates"},
		{[]quota.Quota{flavor("g", 2), flavor("f", 4)}, "gpu", 4, "asks Inadmissible NoCandidates"},
		{[]quota.Quota{flavor("f", 4), flavor("g", 2)}, "gpu", 5, "asks Inadmissible NoFit"},
		{[]quota.Quota{flavor("f", 4)}, "tpu", 1, "asks Inadmissible NoFit"},
	} {
		st := preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: c.quotas}}}
		st.Admitted = append(st.Admitted, job("runs", "a", 0, 1, 9))
		asks := job("asks", "a", 9, c.amount, 0)
		asks.PodSets[0].Requests[0] = quota.Amount{Resource: c.resource, Amount: c.amount}
		if got := text(run(t, cycle.Config{}, snapshotOf(t, st), heads(asks))); got != c.want {
			t.Errorf("%d %s of %v: %s, want %s", c.amount, c.resource, c.quotas, got, c.want)
		}
	}
}

// must returns what came without an error.
func must[T any](v T, err error) func(failer) T {
	return func(t failer) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%v", err)
		}
		return v
	}
}
