package cycle_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// runRequest runs a cycle with all inputs.
func runRequest(t failer, c cycle.Config, s *preemption.Snapshot, r cycle.Request) cycle.Result {
	t.Helper()
	runner := must(cycle.New(c))(t)
	return must(runner.RunRequest(s, r))(t)
}

// asksAgain draws what some heads may start with, and lets some hold quota already or replace a workload.
func asksAgain(t *rapid.T, s *preemption.Snapshot, r *cycle.Request) (*preemption.Snapshot, map[string][]preemption.Replicas) {
	least := map[string][]preemption.Replicas{}
	r.HoldsQuota = map[string]bool{}
	for i := range r.Heads {
		w := r.Heads[i].Workload.Clone()
		if rapid.Bool().Draw(t, "may start with fewer") {
			for j := range w.PodSets {
				p := &w.PodSets[j]
				p.Count = rapid.Int64Range(1, 5).Draw(t, "count")
				least[w.ID] = append(least[w.ID], preemption.Replicas{PodSet: p.Name, Count: rapid.Int64Range(0, p.Count).Draw(t, "at least")})
			}
		}
		r.Heads[i].Workload = w
		held := w.Clone()
		held.NeverYields = rapid.Bool().Draw(t, "never yields")
		for j := range held.PodSets {
			held.PodSets[j].Count = rapid.Int64Range(0, 1).Draw(t, "held")
		}
		if rapid.IntRange(0, 2).Draw(t, "holds quota") == 0 {
			if next, err := s.With(preemption.Admit(held)); err == nil {
				s, r.HoldsQuota[w.ID] = next, true
			}
		}
	}
	r.MinCounts = func(w workload.Workload) []preemption.Replicas { return least[w.ID] }
	r.Replaces = map[string]string{}
	for _, h := range r.Heads {
		of := slices.DeleteFunc(s.State().Admitted, func(w workload.Workload) bool { return w.Queue != h.Workload.Queue || r.HoldsQuota[w.ID] })
		if len(of) > 0 && !r.HoldsQuota[h.Workload.ID] && rapid.Bool().Draw(t, "replaces") {
			r.Replaces[h.Workload.ID] = rapid.SampledFrom(of).Draw(t, "replaced").ID // that of two heads may be one
		}
	}
	return s, least
}

// With heads that may start with fewer replicas, and heads that hold quota, the promises hold:
// the edits are for one With, and once all victims are gone there is room for all who were
// promised it, with no fewer replicas than before.
func partialPromisesHold(t *rapid.T) {
	st, c, heads := draw(t)
	r := cycle.Request{Heads: heads, Now: now}
	s, least := asksAgain(t, snapshotOf(t, st), &r)
	decideAbout := func(s *preemption.Snapshot, w workload.Workload) preemption.Decision {
		p := must(preemption.New(c.Preemption))(t)
		_, held := s.Find(w.ID)
		replaces := r.Replaces[w.ID]
		if _, runs := s.Find(replaces); !runs {
			replaces = "" // it has left
		}
		return must(p.Decide(s, preemption.Request{Workload: w, Now: now, MinCounts: least[w.ID], HoldsQuota: held, Replaces: replaces}))(t)
	}
	result := runRequest(t, c, s, r)
	if len(heads) == 1 {
		want := decideAbout(cleared(t, s), r.Heads[0].Workload)
		want.Replaced = r.Replaces[r.Heads[0].Workload.ID] // also if it was told to stop
		if diff := cmp.Diff(want, result.Heads[0].Decision, cmpopts.IgnoreUnexported(preemption.Decision{})); diff != "" {
			t.Fatalf("of one head: %s", diff)
		}
	}
	after := with(t, s, result.Edits()...)
	for _, v := range result.Heads {
		w := v.Head.Workload
		if running, ok := after.Find(w.ID); v.Outcome == cycle.Admit {
			if want := counted(w, v.Decision.Counts); !ok || !cmp.Equal(counts(want), counts(running)) {
				t.Fatalf("%s is admitted with %v, want %v", w.ID, counts(running), counts(want))
			}
		} else if ok != r.HoldsQuota[w.ID] {
			t.Fatalf("%s: %v, and it runs: %v", w.ID, v.Outcome, ok)
		}
		if old := r.Replaces[w.ID]; old != "" {
			ran, _ := s.Find(old)
			stands, runs := after.Find(old)
			switch promised := v.Reason == queue.PendingPreemption; {
			case v.Outcome == cycle.Admit && runs:
				t.Fatalf("%s is admitted, and %s, which it replaces, runs", w.ID, old)
			case promised && !ran.Evicted && (!runs || stands.Evicted):
				t.Fatalf("%s is promised room, and %s, which it replaces, yields", w.ID, old)
			}
			if slices.ContainsFunc(v.Decision.Victims, func(v preemption.Victim) bool { return v.Workload == old }) {
				t.Fatalf("%s preempts %s, which it replaces", w.ID, old)
			}
		}
	}
	after = cleared(t, after)
	for _, v := range result.Heads {
		if v.Outcome != cycle.Admit && v.Reason == queue.PendingPreemption {
			one := counted(v.Head.Workload, v.Decision.Counts)
			d := decideAbout(after, one)
			if d.Outcome != preemption.Fits {
				t.Fatalf("with all victims gone %s has no room for %v: %v (%s)", v.Head.Workload.ID, counts(one), d.Outcome, text(result))
			}
			after = with(t, after, d.Edits()...)
		}
	}
}

func counted(w workload.Workload, by []preemption.Replicas) workload.Workload {
	w = w.Clone()
	for i := range by {
		w.PodSets[i].Count = by[i].Count
	}
	return w
}

func counts(w workload.Workload) (list []int64) {
	for i := range w.PodSets {
		list = append(list, w.PodSets[i].Count)
	}
	return list
}

func TestPartialPromisesHold(t *testing.T) { rapid.Check(t, partialPromisesHold) }

// A head that starts with fewer replicas is preempted later and comes back as submitted.
func TestPartialHeadComesBackAsSubmitted(t *testing.T) {
	asks := job("elastic", "a", 1, 1, 5)
	asks.PodSets[0].Count, asks.PodSets[0].Requests[0].Flavor = 9, ""
	st := never(shared())
	st.Queues[0].Preemption.WithinClusterQueue = queue.LowerPriority
	r := cycle.Request{Heads: heads(asks), Now: now, MinCounts: func(workload.Workload) []preemption.Replicas {
		return []preemption.Replicas{{PodSet: "main", Count: 2}}
	}}
	s := snapshotOf(t, st)
	result := runRequest(t, cycle.Config{}, s, r)
	if head := result.Heads[0]; head.Outcome != cycle.Admit || head.Decision.Counts[0].Count != 8 || !head.Alone {
		t.Fatalf("%s %+v", text(result), head.Decision.Counts)
	}
	s = with(t, s, result.Edits()...)
	urgent := heads(job("urgent", "a", 9, 4, 0))
	preempts := run(t, cycle.Config{}, s, urgent)
	if text(preempts) != "urgent Preempt elastic" {
		t.Fatal(text(preempts))
	}
	back, err := preempts.Heads[0].Decision.Victims[0].Requeued(result.Heads[0].Head.Workload, now)
	if diff := cmp.Diff(heads(asks)[0].Workload, back); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	full := snapshotOf(t, never(shared(job("x", "a", 9, 4, 9), job("y", "b", 9, 4, 9))))
	if got := runRequest(t, cycle.Config{}, full, r).Heads[0]; got.Outcome != cycle.Inadmissible || got.Reason != queue.NoCandidates {
		t.Errorf("it could start with eight: %v %v", got.Outcome, got.Reason)
	}
}

// A head that waits keeps the quota of all its replicas from later heads, not that of the fewest.
func TestPartialHeadReservesAll(t *testing.T) {
	asks := job("elastic", "a", 1, 1, 5)
	asks.PodSets[0].Count = 4
	st := never(shared(job("small", "b", 5, 2, 9), job("large", "b", 2, 4, 9)))
	st.Queues[1].Preemption.WithinClusterQueue = queue.LowerPriority
	r := cycle.Request{Heads: heads(asks, job("urgent", "b", 9, 3, 0)), Now: now, MinCounts: func(w workload.Workload) []preemption.Replicas {
		if w.ID == "urgent" {
			return nil
		}
		return []preemption.Replicas{{PodSet: "main", Count: 3}}
	}}
	if got, want := text(runRequest(t, cycle.Config{}, snapshotOf(t, st), r)), "elastic Inadmissible NoCandidates, urgent Preempt large small"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A head that holds quota asks again: what it holds does not count against it, and it keeps it
// until it is admitted anew.
func TestHeadThatHoldsQuota(t *testing.T) {
	held := job("held", "a", 5, 3, 9)
	for _, c := range []struct {
		name  string
		asks  int64
		also  []workload.Workload
		heads []workload.Workload
		want  string
		now   int64 // GPUs that it holds after the cycle; -1: none
	}{
		{"it grows into what is free", 4, []workload.Workload{job("x", "b", 9, 4, 9)}, nil, "held Admit", 4},
		{"it keeps what it has when others fill the rest", 4, []workload.Workload{job("x", "b", 9, 5, 9)}, nil, "held Inadmissible NoCandidates", 3},
		{"it leaves room to a later head", 1, []workload.Workload{job("x", "b", 9, 4, 9)}, []workload.Workload{job("later", "a", 1, 1, 1)}, "held Admit, later Admit", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := snapshotOf(t, never(shared(append(c.also, held)...)))
			asks := held.Clone()
			asks.PodSets[0].Requests[0].Amount = c.asks
			r := cycle.Request{Heads: heads(append([]workload.Workload{asks}, c.heads...)...), Now: now, HoldsQuota: map[string]bool{"held": true}}
			result := runRequest(t, cycle.Config{}, s, r)
			if text(result) != c.want || !result.Heads[0].Alone {
				t.Errorf("%s, want %s", text(result), c.want)
			}
			after, _ := with(t, s, result.Edits()...).Find("held")
			if got := after.Usage()[0].Amount; got != c.now {
				t.Errorf("it holds %d, want %d", got, c.now)
			}
		})
	}
	first := heads(job("urgent", "a", 9, 4, 0), held)
	s := snapshotOf(t, shared(held, job("x", "b", 9, 4, 9)))
	result := runRequest(t, cycle.Config{}, s, cycle.Request{Heads: first, Now: now, HoldsQuota: map[string]bool{"held": true}})
	if text(result) != "urgent Preempt held, held Wait FailedAfterNomination" {
		t.Error(text(result))
	}
	runner, _ := cycle.New(cycle.Config{})
	for _, c := range []struct {
		running workload.Workload
		holds   bool
		want    string
	}{
		{evicted(held), true, `heads[0].holdsQuota: is set, but no workload "held" is admitted`},
		{held, false, `heads[0].id: "held" is admitted already`},
	} {
		_, err := runner.RunRequest(snapshotOf(t, shared(c.running)), cycle.Request{Heads: heads(held), Now: now, HoldsQuota: map[string]bool{"held": c.holds}})
		if err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
