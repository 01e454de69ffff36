package cycle_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
)

// Each law is a property and a fuzz target.

func TestPromisesHold(t *testing.T)     { rapid.Check(t, promisesHold) }
func TestNoSecondEviction(t *testing.T) { rapid.Check(t, noSecondEviction) }
func TestOrderIsNothing(t *testing.T)   { rapid.Check(t, orderIsNothing) }
func TestOneHead(t *testing.T)          { rapid.Check(t, oneHead) }
func draw(t *rapid.T) (preemption.State, cycle.Config, []queue.Head) {
	st := preemptiontest.States().Draw(t, "state")
	c := cycle.Config{Preemption: preemptiontest.Configs().Draw(t, "config")}
	c.Borrowing = rapid.SampledFrom([]cycle.Borrowing{cycle.AsBuilt, cycle.KEP83}).Draw(t, "borrowing")
	implied(&c)
	var heads []queue.Head
	for i := range rapid.IntRange(1, 6).Draw(t, "heads") {
		w := preemptiontest.Requests(st).Draw(t, "request").Workload
		w.ID = fmt.Sprintf("ns/head%d", i)
		heads = append(heads, queue.Head{Workload: w, Preempting: rapid.IntRange(0, 4).Draw(t, "preempting") == 4})
	}
	return st, c, heads
}

// implied sets what the mode of a cycle implies for its decisions.
func implied(c *cycle.Config) {
	c.Preemption.Compat.PreemptWithinNominal = c.Preemption.Compat.PreemptWithinNominal || c.Borrowing != cycle.AsBuilt
}

// decideAlone decides by the configuration of a cycle.
func decideAlone(t *rapid.T, c cycle.Config, s *preemption.Snapshot, h queue.Head) preemption.Decision {
	p, err := preemption.New(c.Preemption)
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Decide(s, preemption.Request{Workload: h.Workload, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func cleared(t *rapid.T, s *preemption.Snapshot) *preemption.Snapshot {
	return with(t, s, s.Removals()...)
}

// The edits are for one With. Who is admitted fits at once. No victim is promised twice.
// Once all victims are gone there is room for all who were promised it.
func promisesHold(t *rapid.T) {
	st, c, heads := draw(t)
	s := snapshotOf(t, st)
	given, before := s, s.State()
	r := run(t, c, s, heads)
	if len(r.Heads) != len(heads) {
		t.Fatalf("%d verdicts on %d heads", len(r.Heads), len(heads))
	}
	after := with(t, s, r.Edits()...)
	taken := map[string]string{}
	for _, v := range r.Heads {
		id := v.Head.Workload.ID
		if v.Outcome == cycle.Admit {
			if got := decideAlone(t, c, s, v.Head); got.Outcome != preemption.Fits {
				t.Fatalf("%s is admitted, but %v: %s", id, got.Outcome, text(r))
			}
			s = with(t, s, v.Decision.Edits()...)
		}
		if v.Outcome != cycle.Preempt {
			continue
		}
		for _, victim := range v.Decision.Victims {
			if w, ok := s.Find(victim.Workload); !ok || w.Evicted {
				t.Fatalf("%s preempts %s, which is going or gone: %s", id, victim.Workload, text(r))
			}
			if other, twice := taken[victim.Workload]; twice && len(victim.Replicas) == 0 {
				t.Fatalf("%s is promised to %s and %s", victim.Workload, other, id)
			}
			if len(victim.Replicas) == 0 {
				taken[victim.Workload] = id
			}
		}
	}
	after = cleared(t, after)
	for _, v := range r.Heads {
		if v.Outcome != cycle.Admit && v.Reason == queue.PendingPreemption {
			d := decideAlone(t, c, after, v.Head)
			if d.Outcome != preemption.Fits {
				t.Fatalf("with all victims gone %s has no room: %v (%s)", v.Head.Workload.ID, d.Outcome, text(r))
			}
			after = with(t, after, d.Edits()...)
		}
	}
	if diff := cmp.Diff(before, given.State()); diff != "" {
		t.Fatalf("the snapshot changed:\n%s", diff)
	}
}

// While victims are terminating, the later cycles wait for them: who was promised room
// evicts nobody else, whoever comes besides.
func noSecondEviction(t *rapid.T) {
	st, c, heads := draw(t)
	s := snapshotOf(t, st)
	r := run(t, c, s, heads)
	s = with(t, s, r.Edits()...)
	var again []queue.Head
	for _, v := range r.Heads {
		if back, ok := v.Requeue(); ok {
			again = append(again, queue.Head{Workload: v.Head.Workload, Preempting: back.Reason == queue.PendingPreemption})
		}
	}
	late := preemptiontest.Workload(st, "ns/late").Draw(t, "late")
	late.Priority += 3
	again = append(again, queue.Head{Workload: late})
	for _, v := range run(t, c, s, again).Heads {
		if v.Head.Preempting && v.Outcome != cycle.Wait && v.Outcome != cycle.Admit {
			t.Fatalf("after %s, %s: %v", text(r), v.Head.Workload.ID, v.Outcome)
		}
	}
}

func orderIsNothing(t *rapid.T) {
	st, c, heads := draw(t)
	s := snapshotOf(t, st)
	want := run(t, c, s, heads)
	got := run(t, c, s, rapid.Permutation(heads).Draw(t, "heads in another order"))
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(preemption.Decision{}, queue.Head{})); diff != "" {
		t.Fatalf("the order of the heads changes the result:\n%s", diff)
	}
}

// A head by itself gets the decision of the preemptor, with everybody gone who was told
// to stop; only what fits has to fit with them, too.
func oneHead(t *rapid.T) {
	st, c, heads := draw(t)
	s := snapshotOf(t, st)
	v := run(t, c, s, heads[:1]).Heads[0]
	d := decideAlone(t, c, cleared(t, s), heads[0])
	want := map[preemption.Outcome]cycle.HeadOutcome{preemption.Fits: cycle.Admit, preemption.Preempt: cycle.Preempt,
		preemption.Gated: cycle.Gated, preemption.Wait: cycle.Wait, preemption.Impossible: cycle.Inadmissible}[d.Outcome]
	if d.Outcome == preemption.Fits && decideAlone(t, c, s, heads[0]).Outcome != preemption.Fits {
		want = cycle.Wait
	}
	if v.Reason == queue.NoFit {
		want = cycle.Inadmissible // no time helps it
	}
	if diff := cmp.Diff(d, v.Decision, cmpopts.IgnoreUnexported(preemption.Decision{})); v.Outcome != want || diff != "" {
		t.Fatalf("%v, want %v:\n%s", v.Outcome, want, diff)
	}
}
