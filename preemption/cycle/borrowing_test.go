package cycle_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// KEP-83, Admission: "we disallow borrowing in the cohort in the current cycle after
// evaluating a Workload that doesn't require borrowing". As built, what is left is lent.
func TestBorrowing(t *testing.T) {
	own, borrows := job("own", "a", 0, 2, 0), job("borrows", "b", 9, 1, 0)
	full := job("full", "b", 5, 4, 9)
	gated := job("gated", "a", 0, 4, 0)
	gated.Gates.Names = []string{"g"}
	for _, c := range []struct {
		rule         string
		state        preemption.State
		heads        []queue.Head
		built, kep83 string
	}{
		{"one is admitted", shared(full), heads(own, borrows), "own Admit, borrows Admit", "own Admit, borrows Wait FailedAfterNomination"},
		{"one preempts", shared(full, job("low", "a", -1, 2, 9)), heads(job("own", "a", 0, 3, 0), borrows), "own Preempt low, borrows Admit",
			"own Preempt low, borrows Wait FailedAfterNomination"},
		{"one waits for its nominal quota", never(shared(job("wide", "b", 5, 6, 9))), heads(job("own", "a", 0, 4, 0), borrows),
			"own Inadmissible NoCandidates, borrows Wait FailedAfterNomination", "own Inadmissible NoCandidates, borrows Wait FailedAfterNomination"},
		{"one asks for more than can ever be", never(shared(full)), heads(job("huge", "a", 0, 9, 0), borrows),
			"borrows Admit, huge Inadmissible NoFit", "borrows Admit, huge Inadmissible NoFit"},
		{"one is gated", shared(job("full", "b", 5, 4, 9), job("low", "a", -1, 1, 9)), heads(gated, borrows), "gated Gated low, borrows Admit",
			"gated Gated low, borrows Wait FailedAfterNomination"},
	} {
		s := snapshotOf(t, c.state)
		if got := text(run(t, cycle.Config{}, s, c.heads)); got != c.built {
			t.Errorf("%s, as built: %s, want %s", c.rule, got, c.built)
		}
		if got := text(run(t, cycle.Config{Borrowing: cycle.KEP83}, s, c.heads)); got != c.kep83 {
			t.Errorf("%s, KEP-83: %s, want %s", c.rule, got, c.kep83)
		}
	}
}

// "WithinNominal says that the workload waits for quota within the nominal quota of its
// queue": a head that preempts for it, is gated or cannot get it now waits; one that is admitted or
// asks for more than there is does not.
func TestWhoWaitsWithinNominal(t *testing.T) {
	gated := job("gated", "a", 9, 4, 0)
	gated.Gates.Names = []string{gate.MultiKueue}
	nothing := job("in", "a", 0, 4, 0) // asks for nothing of a resource that its queue has no quota of
	nothing.PodSets[0].Requests = append(nothing.PodSets[0].Requests, quota.Amount{Flavor: "f", Resource: "cpu"})
	lent := func() preemption.State { return shared(job("lent", "b", 0, 8, 9)) }
	for _, c := range []struct {
		rule  string
		state preemption.State
		head  workload.Workload
		text  string
		waits bool
	}{
		{"it is admitted", shared(), job("in", "a", 0, 4, 0), "in Admit", false},
		{"it preempts", lent(), job("in", "a", 0, 4, 0), "in Preempt lent", true},
		{"nobody may yield", never(lent()), job("in", "a", 0, 4, 0), "in Inadmissible NoCandidates", true},
		{"nothing of something else is always within", never(lent()), nothing, "in Inadmissible NoCandidates", true},
		{"its victims leave", shared(evicted(job("going", "b", 0, 8, 9))), job("in", "a", 0, 4, 0), "in Wait PendingPreemption", true},
		{"it is gated", lent(), gated, "gated Gated lent", true},
		{"it is more than there is", lent(), job("in", "a", 0, 9, 0), "in Inadmissible NoFit", false},
		{"it would borrow", never(lent()), job("in", "a", 0, 5, 0), "in Inadmissible NoCandidates", false},
	} {
		r := run(t, cycle.Config{Borrowing: cycle.KEP83Lasting}, snapshotOf(t, c.state), heads(c.head))
		if got := text(r); got != c.text || r.Heads[0].WithinNominal != c.waits {
			t.Errorf("%s: %s, waits within nominal: %v, want %s, %v", c.rule, got, r.Heads[0].WithinNominal, c.text, c.waits)
		}
		if r := run(t, cycle.Config{}, snapshotOf(t, c.state), heads(c.head)); r.Heads[0].WithinNominal {
			t.Errorf("%s: as built nobody is asked", c.rule)
		}
	}
}

// KEP83Lasting: nobody borrows while a workload waits within its nominal quota, but "heads
// whose own victims are terminating may still borrow", and they come first.
func TestBorrowsForItsOwnVictims(t *testing.T) {
	st := never(shared())
	for kept, want := range map[bool]string{
		true:  "borrows Admit, own Wait FailedAfterNomination",
		false: "own Admit, borrows Wait FailedAfterNomination",
	} {
		asked := heads(job("borrows", "b", 0, 5, 0), job("own", "a", 0, 4, 0))
		for i := range asked {
			asked[i].NominalWaits, asked[i].Preempting = true, kept && i == 0
		}
		if got := text(run(t, cycle.Config{Borrowing: cycle.KEP83Lasting}, snapshotOf(t, st), asked)); got != want {
			t.Errorf("its own victims terminate: %v: %s, want %s", kept, got, want)
		}
	}
}

// By the letter of KEP-83 a head that waits for more than its nominal quota is served among
// those that borrow, by priority.
func TestWhoWaitsToBorrowIsServedByPriority(t *testing.T) {
	st := never(shared(job("run", "b", 0, 3, 9)))
	st.Queues = append(st.Queues, queue.Queue{Name: "c", Cohort: "root"})
	for priority, want := range map[int64]string{
		9: "waits Inadmissible NoCandidates, borrows Admit", 0: "borrows Admit, waits Inadmissible NoCandidates",
	} {
		asked := heads(job("waits", "a", priority, 6, 0), job("borrows", "c", 5, 1, 0))
		if got := text(run(t, cycle.Config{Borrowing: cycle.KEP83}, snapshotOf(t, st), asked)); got != want {
			t.Errorf("priority %d: %s, want %s", priority, got, want)
		}
	}
}

// KEP-83, Admission, over cycles: while a workload waits within its nominal quota, which
// nobody may give back, nobody borrows in its cohort, though it stepped aside.
func TestBorrowingOverCycles(t *testing.T) {
	for _, strategy := range []queue.Strategy{queue.BestEffortFIFO, queue.StrictFIFO} {
		for borrowing, want := range map[cycle.Borrowing]bool{cycle.AsBuilt: true, cycle.KEP83: strategy == queue.BestEffortFIFO, cycle.KEP83Lasting: false} {
			st := never(shared(job("wide", "b", 5, 6, 9)))
			st.Queues[0].Strategy, st.Queues[0].Preemption = strategy, queue.PreemptionPolicy{ReclaimWithinCohort: queue.LowerPriority}
			s := snapshotOf(t, st)
			made, err := cycle.New(cycle.Config{Borrowing: borrowing})
			if err != nil {
				t.Fatal(err)
			}
			pending, err := queue.NewPending(st.Cohorts, st.Queues)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range []workload.Workload{job("own", "a", 0, 3, 9), job("like", "a", 0, 3, 8), job("borrows", "b", 0, 2, 0)} {
				w.ReservedAt = time.Time{}
				pending = mustPending(t)(pending.Add(w))
			}
			var r cycle.Result
			turn := func() {
				for n := 0; n == 0 || r.Again; n++ {
					if r, err = made.Run(s, pending.Heads(), now); err != nil || n > 20 {
						t.Fatal(n, err)
					}
					if s, pending, err = r.Apply(s, pending, now); err != nil {
						t.Fatal(err)
					}
				}
			}
			turn()
			if _, got := s.Find("borrows"); got != (want && borrowing != cycle.AsBuilt) && borrowing != cycle.AsBuilt {
				t.Errorf("%v, %v: borrows %t, want %t", strategy, borrowing, got, want)
			}
			for _, id := range []string{"own", "like"} { // the other one still waits behind the first
				if _, _, waits := pending.Find(id); waits {
					pending = mustPending(t)(pending.Remove(id))
				}
				turn()
				_, still, _ := pending.Find("like")
				if _, got := s.Find("borrows"); borrowing == cycle.KEP83Lasting && got == (id == "own" && still.Activity != 0) {
					t.Errorf("%v, without %s: borrows %t", strategy, id, got)
				}
			}
		}
	}
}

// By the letter of KEP-83 a head borrows or does not; how far up the tree is nothing.
func TestHowFarIsBorrowed(t *testing.T) {
	st := preemption.State{Cohorts: []queue.Cohort{{Name: "root"}, {Name: "left", Parent: "root"}}, Queues: []queue.Queue{
		{Name: "a", Cohort: "left"}, {Name: "b", Cohort: "left"}, {Name: "lends", Cohort: "left", Quotas: gpus(4)}, {Name: "far", Cohort: "root", Quotas: gpus(4)}}}
	asked := heads(job("far", "a", 9, 5, 0), job("near", "b", 0, 1, 0))
	for borrowing, want := range map[cycle.Borrowing]string{
		cycle.AsBuilt: "near Admit, far Admit", cycle.KEP83: "far Admit, near Admit", cycle.KEP83Lasting: "far Admit, near Admit",
	} {
		if got := text(run(t, cycle.Config{Borrowing: borrowing}, snapshotOf(t, st), asked)); got != want {
			t.Errorf("%v: %s, want %s", borrowing, got, want)
		}
	}
}

// A head within its nominal quota, of which the room was promised to another before, waits;
// by the letter of KEP-83 nobody borrows after it.
func TestTakenWithinNominal(t *testing.T) {
	st := never(shared(evicted(job("going", "c", 0, 4, 9)), job("run", "b", 0, 3, 9)))
	st.Queues = append(st.Queues, queue.Queue{Name: "c", Cohort: "root"}, queue.Queue{Name: "d", Cohort: "root"})
	asked := heads(job("kept", "c", 0, 4, 0), job("own", "a", 0, 2, 0), job("borrows", "d", 0, 1, 0))
	asked[0].Preempting = true
	for borrowing, want := range map[cycle.Borrowing]string{
		cycle.AsBuilt:      "kept Wait PendingPreemption, own Wait FailedAfterNomination, borrows Admit",
		cycle.KEP83:        "kept Wait PendingPreemption, own Wait FailedAfterNomination, borrows Wait FailedAfterNomination",
		cycle.KEP83Lasting: "kept Wait PendingPreemption, own Wait FailedAfterNomination, borrows Wait FailedAfterNomination",
	} {
		r := run(t, cycle.Config{Borrowing: borrowing}, snapshotOf(t, st), asked)
		if got := text(r); got != want {
			t.Errorf("%v: %s, want %s", borrowing, got, want)
		}
		if r.Again == (borrowing == cycle.KEP83) { // with KEP83Lasting own waits within its nominal quota from now on
			t.Errorf("%v: another cycle changes something: %t", borrowing, r.Again)
		}
		if _, err := r.Heads[0].Outcome.MarshalText(); err != nil || r.Heads[1].WithinNominal != (borrowing == cycle.KEP83Lasting) {
			t.Errorf("%v: %+v, %v", borrowing, r.Heads[1], err)
		}
	}
	asked[0].Preempting = false // the next cycle serves it first: that is another one
	if r := run(t, cycle.Config{}, snapshotOf(t, st), asked[:1]); !r.Again {
		t.Errorf("%s, and another cycle changes nothing", text(r))
	}
}
