package cycle_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

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
	c, err := cycle.New(cycle.Config{Settle: &cycle.Settling{Delays: []settle.Delay{{For: time.Hour}}}})
	if err != nil {
		t.Fatal(err)
	}
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
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		t.Fatal(err)
	}
	ran := func(c cycle.Config, s *preemption.Snapshot) cycle.Result {
		made, err := cycle.New(c)
		if err != nil {
			t.Fatal(err)
		}
		r, err := made.Run(s, list, now)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	settling := c
	settling.Settle = &cycle.Settling{}
	both := ran(settling, s)
	first, err := s.With(both.Settled.Edits()...)
	if err != nil {
		t.Fatal(err)
	}
	alone := ran(c, first)
	if diff := cmp.Diff(alone.Heads, both.Heads, cmpopts.EquateEmpty(), cmp.AllowUnexported(workload.Workload{})); diff != "" {
		t.Fatalf("after settling (-alone +both):\n%s", diff)
	}
}

func TestSettlingComesFirst(t *testing.T) { rapid.Check(t, settlingComesFirst) }
