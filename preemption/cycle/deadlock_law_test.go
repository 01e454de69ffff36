package cycle_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

var modes = []cycle.Borrowing{cycle.AsBuilt, cycle.KEP83, cycle.KEP83Lasting}

// progress runs cycles about heads until all are admitted or nothing changes. All victims leave
// between two cycles. It returns the IDs of the admitted heads, in their order.
func progress(t interface {
	Helper()
	Fatal(...any)
}, c cycle.Config, s *preemption.Snapshot, heads []queue.Head) (admitted []string) {
	t.Helper()
	runs, err := cycle.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * len(heads) {
		r, err := runs.Run(s, heads, now)
		if err != nil {
			t.Fatal(err)
		}
		var waiting []queue.Head
		for _, h := range r.Heads {
			if h.Outcome == cycle.Admit {
				admitted = append(admitted, h.Head.Workload.ID)
				continue
			}
			next := h.Head
			next.Preempting, next.WithinNominal, next.NominalWaits = h.Reason == queue.PendingPreemption, h.WithinNominal, h.WithinNominal
			waiting = append(waiting, next)
		}
		if s, err = s.With(r.Edits()...); err != nil {
			t.Fatal(err)
		}
		if s, err = s.With(s.Removals()...); err != nil {
			t.Fatal(err)
		}
		heads = waiting
	}
	return admitted
}

// In no mode two workloads that each fit within nominal quota after permitted preemption wait for each
// other for ever: one of them is admitted.
func nominalHeadsDoNotBlockEachOther(t *rapid.T) {
	st := preemptiontest.States().Draw(t, "state")
	c := cycle.Config{Preemption: preemptiontest.Configs().Draw(t, "config"), Borrowing: rapid.SampledFrom(modes).Draw(t, "mode")}
	s := cleared(t, snapshotOf(t, st))
	letter := cycle.Config{Preemption: c.Preemption, Borrowing: cycle.KEP83}
	implied(&letter)
	var heads []queue.Head
	for i := range 2 {
		w := preemptiontest.Requests(st).Draw(t, "request").Workload
		w.ID = []string{"ns/head0", "ns/head1"}[i]
		w.Gates = workload.Workload{}.Gates
		h := queue.Head{Workload: w}
		if d := decideAlone(t, letter, s, h); !d.Outcome.Succeeds() || d.BorrowHeight > 0 {
			t.Skip("it does not fit within nominal quota")
		}
		// As built a queue at its nominal quota in one of the columns does not reclaim the others.
		if c.Borrowing == cycle.AsBuilt && len(progress(t, c, s, []queue.Head{h})) == 0 {
			t.Skip("it is not admitted alone")
		}
		heads = append(heads, h)
	}
	if admitted := progress(t, c, s, heads); len(admitted) == 0 {
		t.Fatal("neither is ever admitted")
	}
}

func TestNominalHeadsDoNotBlockEachOther(t *testing.T) {
	rapid.Check(t, nominalHeadsDoNotBlockEachOther)
}

// KEP-83, Admission: "there is no preemption with borrowing quota". x asks for 4 of the 4 of its queue,
// which borrows 2; z fits within nominal. Each mode admits both, and by the KEP x takes three victims.
func TestHeadsThatEndWithinNominal(t *testing.T) {
	within := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}
	for _, strategy := range []queue.Strategy{queue.BestEffortFIFO, queue.StrictFIFO} {
		st := preemption.State{
			Cohorts: []queue.Cohort{{Name: "c"}},
			Queues: []queue.Queue{
				{Name: "a", Cohort: "c", Quotas: gpus(4), Preemption: within, Strategy: strategy},
				{Name: "b", Cohort: "c", Quotas: gpus(4), Strategy: strategy},
			},
			Admitted: []workload.Workload{job("a1", "a", -1, 2, 1), job("a2", "a", -1, 2, 2), job("a3", "a", -1, 2, 3), job("b1", "b", 0, 2, 4)},
		}
		for _, mode := range modes {
			both := heads(job("x", "a", 0, 4, 1), job("z", "b", 0, 2, 2))
			if got := progress(t, cycle.Config{Borrowing: mode}, snapshotOf(t, st), both); len(got) != 2 {
				t.Errorf("%v, %v: only %v are admitted", strategy, mode, got)
			}
			r := run(t, cycle.Config{Borrowing: mode}, snapshotOf(t, st), both)
			at := slices.IndexFunc(r.Heads, func(h cycle.HeadResult) bool { return h.Head.Workload.ID == "x" })
			if victims := len(r.Heads[at].Decision.Victims); mode != cycle.AsBuilt && victims != 3 {
				t.Errorf("%v, %v: x takes %d victims, want 3", strategy, mode, victims)
			}
		}
	}
}
