package cycle_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

func TestLoop(t *testing.T) { rapid.Check(t, theLoop) }

// loop is a scheduler in which everybody who is told to stop does so when it is asked to.
type loop struct {
	cycle     *cycle.Cycle
	alone     *preemption.Preemptor
	snapshot  *preemption.Snapshot
	pending   *queue.Pending
	submitted map[string]workload.Workload // as it last waited
	told      map[string]preemption.Victim
}

// odd is a rule that reads of the pending workload what nobody else does.
type odd struct{}

func (odd) Verdict(running workload.Workload, r preemption.Request) preemption.Verdict {
	if r.Workload.UID == "nobody yields for it" {
		return preemption.NeverYields()
	}
	return preemption.MayYield()
}

func drawLoop(t *rapid.T) *loop {
	records := preemptiontest.Records()
	if rapid.Bool().Draw(t, "without flavors") {
		records = preemptiontest.RecordsWithoutFlavors()
	}
	record := records.Draw(t, "record")
	config := cycle.Config{Preemption: preemptiontest.Configs().Draw(t, "config"), Borrowing: cycle.Borrowing(rapid.IntRange(0, 2).Draw(t, "borrowing"))}
	implied(&config)
	if rapid.IntRange(0, 3).Draw(t, "odd") == 3 {
		config.Preemption.Guards = append(config.Preemption.Guards, odd{})
	}
	if rapid.Bool().Draw(t, "the caller knows who is alike") {
		config.Alike = func(w workload.Workload) string { return w.UID }
	}
	for i := range record.State.Queues {
		record.State.Queues[i].Strategy = queue.Strategy(rapid.IntRange(0, 3).Draw(t, "strategy") / 3)
	}
	if rapid.IntRange(0, 2).Draw(t, "with rules") == 0 {
		drawRules(t, &record.State)
		config.Preemption.Compat.RulesAlone = rapid.Bool().Draw(t, "rules alone")
	}
	l := &loop{submitted: map[string]workload.Workload{}, told: map[string]preemption.Victim{}}
	var err error
	if l.cycle, err = cycle.New(config); err != nil {
		t.Fatal(err)
	}
	config.Preemption.MaxRetrySteps = -1
	l.alone, _ = preemption.New(config.Preemption)
	l.snapshot = snapshotOf(t, record.State)
	if l.pending, err = queue.NewPending(record.State.Cohorts, record.State.Queues); err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "told who is alike") {
		l.pending = l.pending.AlikeBy(l.cycle.Alike)
	}
	for _, w := range record.State.Admitted {
		l.submitted[w.ID] = w
		if w.Evicted {
			l.told[w.ID] = preemption.Victim{Workload: w.ID, Queue: w.Queue, Reason: preemption.InClusterQueue}
		}
	}
	templates := []workload.Workload{record.Request.Workload}
	if record.Request.Workload.PodSets == nil || record.Request.Workload.PodSets[0].Requests == nil || rapid.Bool().Draw(t, "another kind") {
		templates = append(templates, preemptiontest.Requests(record.State).Draw(t, "request").Workload)
	}
	for i := range rapid.IntRange(1, 8).Draw(t, "waiting") {
		w := rapid.SampledFrom(templates).Draw(t, "kind")
		w = w.Clone()
		w.ID = fmt.Sprintf("ns/p%d", i)
		w.UID = rapid.SampledFrom([]string{"", "", "nobody yields for it"}).Draw(t, "uid")
		w.NeverPreempts = rapid.IntRange(0, 3).Draw(t, "never preempts") == 3
		w.LocalQueue = rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "local queue")
		w.Priority += rapid.SampledFrom([]int64{0, 0, 1}).Draw(t, "more") * min(1, max(0, 1<<60-w.Priority))
		w.Queued = now.Add(time.Duration(rapid.IntRange(-4, 0).Draw(t, "queued")) * 10 * time.Minute)
		w.Created = now.Add(time.Duration(rapid.IntRange(-4, 0).Draw(t, "created")) * 10 * time.Minute)
		w.ReservedAt, w.Evicted = time.Time{}, false
		l.wait(t, w)
	}
	return l
}

// drawRules gives the queues rules, which accept workloads by scope and priority, and local queues
// to what runs.
func drawRules(t *rapid.T, st *preemption.State) {
	config := rules.Config{Name: "rules"}
	for i, trigger := range rules.Triggers() {
		r := rules.Rule{Name: fmt.Sprint("r", i), ActivationPolicy: rules.ActivationPolicy{Trigger: trigger}}
		for range rapid.IntRange(0, 2).Draw(t, "selectors") {
			s := rules.CandidateSelector{Scope: rapid.SampledFrom([]rules.Scope{
				rules.WithinLocalQueue, rules.WithinClusterQueue, rules.WithinParentCohort, rules.WithinCohortTree, rules.AnyClusterQueue,
			}).Draw(t, "scope")}
			if rapid.Bool().Draw(t, "by priority") {
				s.Priority = rules.Priority{Mode: rules.Boosted, Comparison: rules.LessThanOrEqual}
			}
			r.CandidateSelectors = append(r.CandidateSelectors, s)
		}
		config.Rules = append(config.Rules, r)
	}
	st.Rules = []rules.Config{config}
	for i := range st.Queues {
		st.Queues[i].Rules = "rules"
	}
	for i := range st.Admitted {
		st.Admitted[i].LocalQueue = rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "local queue")
	}
}

func (l *loop) wait(t *rapid.T, w workload.Workload) {
	next := must(l.pending.Add(w))(t)
	l.pending, l.submitted[w.ID] = next, w
}

// once runs a cycle and takes its result in, as it comes out of a JSON round trip.
func (l *loop) once(t *rapid.T) cycle.Result {
	heads := l.pending.Heads()
	result := must(l.cycle.Run(l.snapshot, heads, now))(t)
	data, err := json.Marshal(result)
	if err == nil {
		result = cycle.Result{}
		err = json.Unmarshal(data, &result)
	}
	if err != nil {
		t.Fatal(err)
	}
	if l.snapshot, l.pending, err = result.Apply(l.snapshot, l.pending, now); err != nil {
		t.Fatal(err)
	}
	for _, v := range result.Heads {
		for _, victim := range v.Decision.Victims {
			if v.Outcome == cycle.Preempt && len(victim.Replicas) == 0 {
				l.told[victim.Workload] = victim
			}
		}
	}
	return result
}

// leave lets one go that was told to stop, or the replicas of one; false: there is none.
func (l *loop) leave(t *rapid.T) bool {
	edits := l.snapshot.Removals()
	if len(edits) == 0 {
		return false
	}
	before := l.snapshot
	l.snapshot = with(t, before, rapid.SampledFrom(edits).Draw(t, "leaves"))
	for w := range before.Workloads() {
		if _, stays := l.snapshot.Find(w.ID); !stays {
			if _, waited := l.submitted[w.ID]; !waited || w.ID[:4] != "ns/p" {
				delete(l.submitted, w.ID) // it does not come back: it never waited here
				continue
			}
			again := must(l.told[w.ID].Requeued(l.submitted[w.ID], now))(t)
			want := l.submitted[w.ID]
			want.Queued, want.Gates = again.Queued, want.Gates.Evicted(now)
			if diff := cmp.Diff(want, again); diff != "" {
				t.Fatalf("%s does not come back as it was submitted:\n%s", w.ID, diff)
			}
			l.wait(t, again)
		}
	}
	for q := range before.Queues() {
		l.pending = l.pending.Release(q.Name)
	}
	return true
}

// The loop ends; when it has, another cycle changes nothing; nobody is lost; and with
// nobody leaving, no workload is kept out of the order that would fit or preempt by itself.
func theLoop(t *rapid.T) {
	l := drawLoop(t)
	for range 4 {
		for n := 0; ; n++ {
			if result := l.once(t); !result.Again {
				break
			}
			if n > 200 {
				t.Fatalf("%d cycles, and another one may change something", n)
			}
		}
		heads := l.pending.Heads()
		if again := l.once(t); len(again.Edits()) > 0 || again.Again {
			t.Fatalf("nothing was to change, but another cycle comes out %s", text(again))
		}
		if diff := cmp.Diff(heads, l.pending.Heads()); diff != "" {
			t.Fatalf("nothing was to change, but other heads are there:\n%s", diff)
		}
		l.check(t)
		if !l.leave(t) {
			return
		}
	}
}

func (l *loop) check(t *rapid.T) {
	for id := range l.submitted {
		_, _, waits := l.pending.Find(id)
		if _, runs := l.snapshot.Find(id); waits == runs {
			t.Fatalf("%s waits: %t, runs: %t", id, waits, runs)
		}
	}
	if len(l.snapshot.Removals()) > 0 {
		return // who leaves brings them back
	}
	for _, w := range l.pending.Workloads() {
		_, at, _ := l.pending.Find(w.ID)
		d := must(l.alone.Decide(l.snapshot, preemption.Request{Workload: w, Now: now}))(t)
		if at.Activity == queue.Inadmissible && d.Outcome.Succeeds() && !(at.Reason == queue.Borrows && l.barred()) {
			t.Fatalf("%s is kept out of the order (%+v), and would %v", w.ID, at, d.Outcome)
		}
		if signals := w.Gates.Blocked.Signals(); signals && at.Activity == queue.Inadmissible && at.Reason != queue.Gated {
			t.Fatalf("%s signals, but stands %+v", w.ID, at)
		}
	}
}

// barred reports whether somebody waits for whom others may not borrow ([cycle.KEP83Lasting]).
func (l *loop) barred() bool {
	for _, w := range l.pending.Workloads() {
		if _, at, _ := l.pending.Find(w.ID); at.Reason != queue.Borrows {
			return true
		}
	}
	return false
}

// Trials go on with the flavors that were not tried; when they are at their end, or come to
// nothing, the first is tried again.
func TestContinue(t *testing.T) {
	quotas := append(gpus(2), gpus(2)...)
	quotas[1].Flavor = "g"
	st := preemption.State{Queues: []queue.Queue{{Name: "q", Quotas: quotas, Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}},
		Admitted: []workload.Workload{job("low", "q", 0, 2, 9)}}
	st.Queues[0].FlavorFungibility.WhenCanPreempt = queue.MayStopSearch
	st.Admitted = append(st.Admitted, job("other", "q", 0, 2, 9))
	st.Admitted[1].PodSets[0].Requests[0].Flavor = "g"
	w := job("w", "q", 9, 2, 0)
	w.PodSets[0].Requests[0].Flavor = ""
	s := snapshotOf(t, st)
	made, _ := cycle.New(cycle.Config{})
	victims := func(from map[string]preemption.Assignment) []string {
		r := must(made.RunRequest(s, cycle.Request{Heads: heads(w), Now: now, Continue: from}))(t)
		var ids []string
		for _, v := range r.Heads[0].Decision.Victims {
			ids = append(ids, v.Workload)
		}
		return ids
	}
	d := run(t, cycle.Config{}, s, heads(w)).Heads[0].Decision
	if got := victims(nil); !slices.Equal(got, []string{"low"}) || d.Assignment[0].Untried != 1 {
		t.Fatalf("%v, %+v", got, d.Assignment)
	}
	if got := victims(map[string]preemption.Assignment{"w": d.Assignment}); !slices.Equal(got, []string{"other"}) {
		t.Errorf("going on: %v", got)
	}
	st.Admitted[1].Priority = 99
	s = snapshotOf(t, st)
	if got := victims(map[string]preemption.Assignment{"w": d.Assignment}); !slices.Equal(got, []string{"low"}) {
		t.Errorf("nobody in the last flavor: %v", got)
	}
}

func mustPending(t failer) func(*queue.Pending, error) *queue.Pending {
	return func(p *queue.Pending, err error) *queue.Pending {
		t.Helper()
		if err != nil {
			t.Fatalf("%v", err)
		}
		return p
	}
}

// A cycle that was not made decides nothing.
func TestZeroCycle(t *testing.T) {
	for _, c := range []*cycle.Cycle{nil, new(cycle.Cycle)} {
		r, err := c.Run(snapshotOf(t, shared()), heads(job("x", "a", 0, 1, 0)), now)
		if err == nil || err.Error() != "cycle: is not made by New" || len(r.Heads) > 0 || c.Alike(job("x", "a", 0, 1, 0)) != "" {
			t.Errorf("%v, %v", r, err)
		}
	}
}
