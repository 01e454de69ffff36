package cycle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
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
