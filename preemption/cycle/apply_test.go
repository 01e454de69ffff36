package cycle_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

func pendingOf(t failer, queues []queue.Queue, waiting ...workload.Workload) *queue.Pending {
	t.Helper()
	p, err := queue.NewPending([]queue.Cohort{{Name: "root"}}, queues)
	for _, w := range waiting {
		if err == nil {
			p, err = p.Add(w)
		}
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	return p
}

// "A head comes back as it is, if it changed since the cycle read it": a gate that opened meanwhile stays open.
func TestReturnKeepsAnOpenedGate(t *testing.T) {
	st := shared(job("lent", "b", 0, 8, 9))
	gated := job("gated", "a", 9, 4, 0)
	gated.Gates.Names = []string{gate.MultiKueue}
	p := pendingOf(t, st.Queues, gated)
	r := run(t, cycle.Config{}, snapshotOf(t, st), p.Heads())
	if got := text(r); got != "gated Gated lent" || !r.Again || !r.Heads[0].Again {
		t.Fatalf("%s, again %v", got, r.Again)
	}
	back, err := r.Heads[0].Return(p, now)
	if w, at, _ := back.Find("gated"); err != nil || !w.Gates.Blocked.Signals() || at.Reason != queue.Gated {
		t.Errorf("%v: it does not signal, %+v", err, at)
	}
	gated.Gates = gated.Gates.Opened(gate.MultiKueue, now)
	if p, err = p.Update(gated); err != nil {
		t.Fatal(err)
	}
	back, err = r.Heads[0].Return(p, now)
	if w, _, _ := back.Find("gated"); err != nil || w.Gates.AnyClosed() {
		t.Errorf("%v: its gate is closed again", err)
	}
}

// "Returns both as they were given": after an error neither the snapshot nor the pending workloads change.
func TestApplyIsAllOrNothing(t *testing.T) {
	st := shared(job("lent", "b", 0, 8, 9))
	takes, fits := job("takes", "a", 9, 4, 0), job("fits", "b", 0, 0, 0)
	s, p := snapshotOf(t, st), pendingOf(t, st.Queues, takes, fits)
	r := run(t, cycle.Config{}, s, p.Heads())
	after, rest, err := r.Apply(s, p, now)
	if err != nil || len(after.Terminating()) != 1 || rest.Len() != 1 || p.Len() != 2 || len(s.Terminating()) != 0 {
		t.Fatalf("%s: %v, %d told to stop, %d wait", text(r), err, len(after.Terminating()), rest.Len())
	}
	for _, lost := range []string{"takes", "fits"} {
		short := mustPending(t)(p.Remove(lost))
		if after, rest, err := r.Apply(s, short, now); err == nil || after != s || rest != short {
			t.Errorf("without %s: %v", lost, err)
		}
	}
	again, _, err := r.Apply(after, p, now)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(after.State(), again.State()); diff != "" {
		t.Errorf("carried out twice: %s", diff)
	}
	if _, _, err := r.Apply(after, rest, now); err == nil {
		t.Error("carried out where its heads wait no more")
	}
}

// "Victims are told to leave before the heads are served": a head within its nominal quota, which may preempt no workload, waits
// for the victims of a limit that was lowered, and without that for nothing.
func TestSettle(t *testing.T) {
	st := shared(job("b1", "b", 0, 4, 9), job("b2", "b", 0, 4, 8))
	st = never(st)
	for i := range st.Queues {
		if st.Queues[i].Name == "b" {
			st.Queues[i].Quotas[0].BorrowingLimit = quota.AtMost(0) // it was unlimited
		}
	}
	s, asks := snapshotOf(t, st), heads(job("own", "a", 0, 4, 0))
	if got := text(run(t, cycle.Config{}, s, asks)); got != "own Inadmissible NoCandidates" {
		t.Errorf("without settling: %s", got)
	}
	r := run(t, cycle.Config{Settle: &cycle.Settling{}}, s, asks)
	if got := text(r); got != "own Wait PendingPreemption" || len(r.Settled.Victims) != 1 || r.Settled.Victims[0].Workload != "b2" {
		t.Errorf("%s, %+v", got, r.Settled)
	}
	if after, err := s.With(r.Edits()...); err != nil || len(after.Terminating()) != 1 {
		t.Errorf("%v leave, %v", after.Terminating(), err)
	}
	if events := r.Events(s, now); len(events) != 1 || events[0].Victim != "b2" {
		t.Errorf("events %v", events)
	}
	c := must(cycle.New(cycle.Config{Settle: &cycle.Settling{Delays: []settle.Delay{{For: time.Hour}}}}))(t)
	since := settle.Observe(nil, r.Settled.Excess, now.Add(-time.Minute))
	delayed, err := c.RunRequest(s, cycle.Request{Heads: asks, Now: now, Over: since})
	if err != nil || len(delayed.Settled.Victims) > 0 || !delayed.Settled.RetryAt.Equal(now.Add(59*time.Minute)) {
		t.Errorf("%+v, %v", delayed.Settled, err)
	}
	if _, err := cycle.New(cycle.Config{Settle: &cycle.Settling{MaxVictims: -1}}); err == nil || err.Error() !=
		"config.Settle.MaxVictims: -1 is negative" {
		t.Error(err)
	}
}

// A cycle that settles is one that does not, after the victims were told to leave.
func settlingComesFirst(t *rapid.T) {
	st, c, list := draw(t)
	for i := range st.Queues {
		for j := range st.Queues[i].Quotas {
			if q := &st.Queues[i].Quotas[j]; rapid.Bool().Draw(t, "lowered") {
				q.Nominal /= 2
				if limit, ok := q.LendingLimit.Get(); ok {
					q.LendingLimit = quota.AtMost(min(limit, q.Nominal))
				}
			}
		}
	}
	c.Preemption.Limits = nil // they count the victims
	s := must(preemption.NewSnapshot(st))(t)
	ran := func(c cycle.Config, s *preemption.Snapshot) cycle.Result {
		made := must(cycle.New(c))(t)
		return must(made.Run(s, list, now))(t)
	}
	settling := c
	settling.Settle = &cycle.Settling{}
	both := ran(settling, s)
	first := must(s.With(both.Settled.Edits()...))(t)
	alone := ran(c, first)
	if diff := cmp.Diff(alone.Heads, both.Heads, cmpopts.EquateEmpty(), cmp.AllowUnexported(workload.Workload{})); diff != "" {
		t.Fatalf("after settling (-alone +both):\n%s", diff)
	}
}

func TestSettlingComesFirst(t *testing.T) { rapid.Check(t, settlingComesFirst) }

// A limit counts across the heads of a cycle, and with the history that the caller keeps.
func TestLimitsCountAcrossHeads(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	one := func(id, in string, priority int64) workload.Workload {
		return workload.Workload{ID: id, Queue: in, Priority: priority, PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: 1}}}}}
	}
	st := preemption.State{}
	var heads []queue.Head
	for _, name := range []string{"a", "b", "c"} {
		st.Queues = append(st.Queues, queue.Queue{
			Name: name, Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: 1}}, Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority},
		})
		st.Admitted = append(st.Admitted, one("old-"+name, name, 0))
		heads = append(heads, queue.Head{Workload: one("new-"+name, name, 1)})
	}
	s := must(preemption.NewSnapshot(st))(t)
	config := cycle.Config{Preemption: preemption.Config{Limits: []limits.Limit{{Name: "two", Scope: limits.Global, Limit: 2, Window: quota.Some(time.Hour)}}}}
	preempting := func(h *limits.History) (list []string, r cycle.Result) {
		r = runRequest(t, config, s, cycle.Request{Heads: heads, Now: now, History: h})
		for _, v := range r.Heads {
			if v.Outcome == cycle.Preempt {
				list = append(list, v.Head.Workload.ID)
			}
		}
		return list, r
	}
	for _, config.Preemption.Best.Steps = range []int{0, -1} {
		config.Preemption.Search = preemption.Best
		list, r := preempting(nil)
		if events := r.Events(s, now); len(list) != 2 || len(events) != 2 || events[0].Victim != "old-a" || events[1].Preemptor != "new-b" || !events[1].At.Equal(now) {
			t.Fatalf("%q preempt, %+v", list, events)
		}
		earlier := must(limits.NewHistory(r.Events(s, now.Add(-30*time.Minute))[:1]))(t)
		if list, _ = preempting(earlier); len(list) != 1 || earlier.Len() != 1 {
			t.Errorf("after an earlier preemption %q preempt; the history has %d", list, earlier.Len())
		}
		if _, r = preempting(earlier); r.Heads[len(r.Heads)-1].Outcome == cycle.Preempt {
			t.Errorf("%+v", r)
		}
	}
}
