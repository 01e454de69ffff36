package cycle_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

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

// "A head that does not fit, and for which nobody may yield, reserves what its queue could
// hold without preemption", even if that is 1: what another head would borrow of that is kept.
func TestReservesOne(t *testing.T) {
	for size, want := range map[int64]string{
		0: "waits Inadmissible NoCandidates, borrows Admit",
		1: "waits Inadmissible NoCandidates, borrows Wait FailedAfterNomination",
	} {
		st := preemption.State{Cohorts: []queue.Cohort{{Name: "root"}}, Queues: []queue.Queue{
			{Name: "a", Cohort: "root", Quotas: append(gpus(1), quota.Quota{Flavor: "f", Resource: "cpu", Nominal: 1})}, {Name: "b", Cohort: "root"}}}
		cpu := quota.Amount{Flavor: "f", Resource: "cpu", Amount: 1}
		runs := job("runs", "a", 0, 0, 9)
		runs.PodSets[0].Requests = []quota.Amount{cpu}
		st.Admitted = append(st.Admitted, runs)
		waits := job("waits", "a", 9, size, 0)
		waits.PodSets[0].Requests = append(waits.PodSets[0].Requests, cpu)
		if got := text(run(t, cycle.Config{}, snapshotOf(t, st), heads(waits, job("borrows", "b", 0, 1, 0)))); got != want {
			t.Errorf("it waits for %d: %s, want %s", size, got, want)
		}
	}
}
