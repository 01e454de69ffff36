package cycle_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
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
	p := must(preemption.New(c.Preemption))(t)
	return must(p.Decide(s, preemption.Request{Workload: h.Workload, Now: now}))(t)
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

// KEP-83, Test Plan: nobody waits for another one for ever. Workloads come, cycles run until nothing changes, what was told
// leaves, and what runs finishes, in a drawn order. In the end nothing runs. Then nobody waits who would be admitted in the
// empty cluster: no head that would borrow bars those of its queue that would not, and what can never run bars nobody. Under
// StrictFIFO that is so as long as the first of the queue can run.
func nobodyWaitsInAnEmptyCluster(t *rapid.T) {
	strategy := rapid.SampledFrom([]queue.Strategy{queue.BestEffortFIFO, queue.StrictFIFO}).Draw(t, "strategy")
	mode := cycle.KEP83Lasting // the others reserve or close for a head that waits, which may be for ever: see Borrowing
	policies := []queue.VictimPolicy{queue.Never, queue.LowerPriority}
	st := preemption.State{Cohorts: []queue.Cohort{{Name: "c"}}, Flavors: []queue.Flavor{
		{Name: "f"}, {Name: "tainted", NodeTaints: []workload.Taint{{Key: "x", Effect: workload.NoSchedule}}},
	}}
	for i := range rapid.IntRange(1, 3).Draw(t, "queues") {
		q := queue.Queue{Name: fmt.Sprintf("q%d", i), Cohort: "c", Strategy: strategy}
		flavor := rapid.SampledFrom([]string{"f", "f", "f", "tainted"}).Draw(t, "flavor")
		q.Quotas = []quota.Quota{{Flavor: flavor, Resource: "gpu", Nominal: rapid.Int64Range(0, 4).Draw(t, "nominal")}}
		q.Preemption.WithinClusterQueue = rapid.SampledFrom(policies).Draw(t, "within")
		q.Preemption.ReclaimWithinCohort = rapid.SampledFrom(policies).Draw(t, "reclaim")
		st.Queues = append(st.Queues, q)
	}
	s := snapshotOf(t, st)
	pending, err := queue.NewPending(st.Cohorts, st.Queues)
	if err != nil {
		t.Fatal(err)
	}
	left := rapid.IntRange(1, 7).Draw(t, "workloads")
	next := 0
	placeless := map[string]bool{} // no node has room for them
	come := func() {
		w := job(fmt.Sprintf("w%d", next), rapid.SampledFrom(st.Queues).Draw(t, "queue").Name, int64(rapid.IntRange(0, 2).Draw(t, "priority")),
			rapid.Int64Range(1, 5).Draw(t, "amount"), 0)
		w.ReservedAt, w.Queued = time.Time{}, now.Add(time.Duration(next)*time.Second)
		w.NeverPreempts = rapid.IntRange(0, 3).Draw(t, "never preempts") == 0
		w.PodSets[0].Requests[0].Flavor = ""
		placeless[w.ID] = rapid.IntRange(0, 7).Draw(t, "no room") == 0
		if pending, err = pending.Add(w); err != nil {
			t.Fatal(err)
		}
		next++
		left--
	}
	c, err := cycle.New(cycle.Config{Borrowing: mode, Alike: func(w workload.Workload) string { return fmt.Sprint(placeless[w.ID]) }})
	if err != nil {
		t.Fatal(err)
	}
	pending = pending.AlikeBy(c.Alike)
	room := func(w workload.Workload, _ []cycle.HeadResult) preemption.Room {
		if placeless[w.ID] {
			return noRoom{}
		}
		return nil
	}
	submitted := map[string]workload.Workload{}
	for at := now; ; at = at.Add(time.Minute) {
		for again, cycles := true, 0; again; cycles++ {
			if cycles > 100 {
				t.Fatal("cycles without end")
			}
			for _, h := range pending.Heads() {
				submitted[h.Workload.ID] = h.Workload
			}
			r, err := c.RunRequest(s, cycle.Request{Heads: pending.Heads(), Now: at, Room: room})
			if err != nil {
				t.Fatal(err)
			}
			if s, pending, err = r.Apply(s, pending, at); err != nil {
				t.Fatal(err)
			}
			again = r.Again
		}
		runs := []workload.Workload{}
		for w := range s.Workloads() {
			runs = append(runs, w)
		}
		if left > 0 && (len(runs) == 0 || rapid.Bool().Draw(t, "one more")) {
			come()
			continue
		}
		if len(runs) == 0 {
			break
		}
		gone := rapid.SampledFrom(runs).Draw(t, "goes")
		if s, err = s.With(preemption.Remove(gone.ID)); err != nil {
			t.Fatal(err)
		}
		if back := submitted[gone.ID]; gone.Evicted && rapid.Bool().Draw(t, "comes back") {
			back.Queued = at
			if pending, err = pending.Add(back); err != nil {
				t.Fatal(err)
			}
		}
		pending = pending.Release(gone.Queue).Advance(at)
	}
	empty := snapshotOf(t, st)
	var alone preemption.Preemptor
	fits := func(w workload.Workload) bool {
		d, err := alone.Decide(empty, preemption.Request{Workload: w, Now: now})
		return err == nil && d.Outcome == preemption.Fits && !placeless[w.ID]
	}
	for _, h := range pending.Heads() {
		if fits(h.Workload) {
			t.Fatalf("%v, %v: nothing runs, and %s, a head, waits though it fits", mode, strategy, h.Workload.ID)
		}
	}
	for n := range next {
		w, _, waits := pending.Find(fmt.Sprintf("w%d", n))
		if waits && strategy == queue.BestEffortFIFO && fits(w) {
			t.Fatalf("%v, %v: nothing runs, and %s waits though it fits", mode, strategy, w.ID)
		}
	}
}

type noRoom struct{}

func (noRoom) Remove(string)  {}
func (noRoom) Restore(string) {}
func (noRoom) Fits() bool     { return false }

func TestNobodyWaitsInAnEmptyCluster(t *testing.T) { rapid.Check(t, nobodyWaitsInAnEmptyCluster) }
