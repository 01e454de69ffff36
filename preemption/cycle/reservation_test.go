package cycle_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

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

// "It reserves nothing if its queue reclaims from Any and so can get it back, unless ... there are limits
// on preemptions, or rules decide in place of the policies."
func TestReservesWhatIsNotReclaimed(t *testing.T) {
	const kept, lent = "waits Inadmissible NoCandidates, borrows Wait FailedAfterNomination", "waits Inadmissible NoCandidates, borrows Admit"
	limited := preemption.Config{Limits: []limits.Limit{{Name: "l", Scope: limits.Global, Window: quota.Some(time.Hour)}}}
	for _, c := range []struct {
		config preemption.Config
		rules  string
		want   string
	}{
		{preemption.Config{}, "", lent}, {preemption.Config{}, "nobody", lent}, {limited, "", kept},
		{preemption.Config{Compat: preemption.Compat{RulesAlone: true}}, "nobody", kept}, {preemption.Config{Compat: preemption.Compat{RulesAlone: true}}, "unknown", lent},
	} {
		st := preemption.State{
			Cohorts: []queue.Cohort{{Name: "root"}}, Rules: []rules.Config{{Name: "nobody"}},
			Queues:   []queue.Queue{{Name: "a", Cohort: "root", Quotas: gpus(4), Rules: c.rules, Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}}, {Name: "b", Cohort: "root"}},
			Admitted: []workload.Workload{job("own", "a", 9, 2, 9)},
		}
		if got := text(run(t, cycle.Config{Preemption: c.config}, snapshotOf(t, st), heads(job("waits", "a", 9, 4, 0), job("borrows", "b", 0, 2, 0)))); got != c.want {
			t.Errorf("%+v, rules %q: %s, want %s", c.config, c.rules, got, c.want)
		}
	}
}

// "Reserves, for this cycle, what its queue could hold without preemption": for a head that
// borrows up to the borrowing limit of that resource, whatever the limits of others are. Here
// that is one of the two GPUs that are free.
func TestReservesUpToTheBorrowingLimit(t *testing.T) {
	for cpuLimit := range int64(3) {
		limited := append([]quota.Quota{{Flavor: "f", Resource: "cpu", BorrowingLimit: quota.AtMost(cpuLimit)}}, gpus(1)...)
		limited[1].BorrowingLimit = quota.AtMost(1)
		st := preemption.State{Cohorts: []queue.Cohort{{Name: "root"}}, Queues: []queue.Queue{
			{Name: "a", Cohort: "root", Quotas: limited}, {Name: "b", Cohort: "root", Quotas: gpus(4)}, {Name: "c", Cohort: "root"}},
			Admitted: []workload.Workload{job("own", "a", 0, 1, 9), job("run", "b", 0, 2, 9)}}
		for size, want := range map[int64]string{
			1: "waits Inadmissible NoCandidates, borrows Admit",
			2: "waits Inadmissible NoCandidates, borrows Wait FailedAfterNomination",
		} {
			asked := heads(job("waits", "a", 9, 2, 0), job("borrows", "c", 0, size, 0))
			if got := text(run(t, cycle.Config{}, snapshotOf(t, st), asked)); got != want {
				t.Errorf("%d GPUs, limit of CPUs %d: %s, want %s", size, cpuLimit, got, want)
			}
		}
	}
}

// A head that cannot preempt keeps, for the cycle, what its queue could hold of its
// nominal quota, unless it could reclaim it from anybody.
func TestReservation(t *testing.T) {
	for policy, want := range map[queue.VictimPolicy]string{
		queue.Never: "waits Inadmissible NoCandidates, borrows Wait FailedAfterNomination",
		queue.Any:   "waits Inadmissible NoCandidates, borrows Admit",
	} {
		st := shared(job("mine", "a", 9, 1, 9), job("full", "b", 9, 4, 9), job("other", "c", 9, 1, 9))
		st.Queues = append(st.Queues, queue.Queue{Name: "c", Cohort: "root", Quotas: gpus(1)})
		st.Queues[0].Preemption = queue.PreemptionPolicy{ReclaimWithinCohort: policy}
		st.Queues[1].Preemption = queue.PreemptionPolicy{}
		// 3 of a's 4 are free; it asks for 3 and 1 of a flavor of which there is none free.
		st.Queues[0].Quotas = append(st.Queues[0].Quotas, quota.Quota{Flavor: "f", Resource: "ib", Nominal: 1})
		st.Admitted[0].PodSets[0].Requests = append(st.Admitted[0].PodSets[0].Requests, quota.Amount{Flavor: "f", Resource: "ib", Amount: 1})
		w := job("waits", "a", 0, 3, 0)
		w.PodSets[0].Requests = append(w.PodSets[0].Requests, quota.Amount{Flavor: "f", Resource: "ib", Amount: 1})
		b := job("borrows", "b", -5, 2, 0)
		if got := text(run(t, cycle.Config{}, snapshotOf(t, st), heads(w, b))); got != want {
			t.Errorf("%v: %s, want %s", policy, got, want)
		}
	}
}
