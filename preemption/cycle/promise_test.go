package cycle_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

func TestPromisesAreNotReclaimed(t *testing.T) { rapid.Check(t, promisesAreNotReclaimed) }

// By policies no running workload of a queue within its nominal quota is reclaimed: what the
// queue uses is what runs in it, with the heads that this cycle admitted and without the
// victims of the heads served before. Of the victims of one head in a queue, each but the
// last left the queue over its nominal quota: in something that is asked for; in fair sharing, after the
// first, in anything.
func promisesAreNotReclaimed(t *rapid.T) {
	st, c, heads := draw(t)
	r := cycle.Request{Heads: heads, Now: now}
	s := snapshotOf(t, st)
	if rapid.Bool().Draw(t, "some hold quota") {
		s, _ = asksAgain(t, s, &r)
	}
	result := runRequest(t, c, s, r)
	s = cleared(t, s)
	for _, v := range result.Heads {
		if v.Outcome == cycle.Preempt {
			withinNominalIsKept(t, s, &v, c.Preemption.Sharing != preemption.Classical)
		}
		if _, is := s.Find(v.Decision.Replaced); !is {
			v.Decision.Replaced = "" // it has left
		}
		if v.Outcome == cycle.Admit || v.Outcome == cycle.Preempt {
			s = cleared(t, with(t, s, v.Decision.Edits()...))
		}
	}
}

func withinNominalIsKept(t *rapid.T, s *preemption.Snapshot, v *cycle.HeadResult, fair bool) {
	asked := counted(v.Decision.Assignment.Pin(v.Head.Workload), v.Decision.Counts)
	taken := map[string][]preemption.Victim{}
	for _, victim := range v.Decision.Victims {
		switch victim.Reason {
		case preemption.InCohortReclamation, preemption.InCohortReclaimWhileBorrowing, preemption.InCohortFairSharing:
			taken[victim.Queue] = append(taken[victim.Queue], victim)
		}
	}
	for name, victims := range taken {
		over := func(last preemption.Victim) bool { return borrows(without(t, s, victims, last), name, asked.Usage()) }
		if fair && len(victims) > 1 {
			over = func(last preemption.Victim) bool { return borrows(without(t, s, victims, last), name, nil) }
		}
		if !slices.ContainsFunc(victims, over) {
			rows, _ := s.QueueStatus(name)
			t.Fatalf("%s reclaims %+v of queue %s, which is within its nominal quota: %+v", v.Head.Workload.ID, victims, name, rows)
		}
	}
}

// without returns the snapshot in which the victims are gone, except for one.
func without(t *rapid.T, s *preemption.Snapshot, victims []preemption.Victim, except preemption.Victim) *preemption.Snapshot {
	for _, v := range victims {
		switch {
		case v.Workload == except.Workload:
		case len(v.Replicas) == 0:
			s = with(t, s, preemption.Remove(v.Workload))
		}
		for _, r := range v.Replicas {
			if v.Workload != except.Workload {
				s = with(t, s, preemption.Remove(v.Workload, preemption.Replicas{PodSet: r.PodSet, Count: r.Count}))
			}
		}
	}
	return s
}

// borrows reports whether a queue uses more than its nominal quota of something that is asked
// for; nil: of anything.
func borrows(s *preemption.Snapshot, name string, asked []quota.Amount) bool {
	rows, _ := s.QueueStatus(name)
	if asked == nil {
		return slices.ContainsFunc(rows, func(row preemption.QuotaStatus) bool { return row.Usage > row.Nominal })
	}
	return slices.ContainsFunc(asked, func(u quota.Amount) bool {
		return u.Amount > 0 && slices.ContainsFunc(rows, func(row preemption.QuotaStatus) bool {
			return row.FlavorResource == u.FlavorResource() && row.Usage > row.Nominal
		})
	})
}

// A queue at 100 of 101 with a head that waits for its victims, and for 4, keeps its running
// workloads: another head reclaims what is borrowed, and the promise is not.
func TestPromiseIsNotUsage(t *testing.T) {
	policy := queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}
	st := preemption.State{Cohorts: []queue.Cohort{{Name: "root"}}, Queues: []queue.Queue{
		{Name: "a", Cohort: "root", Quotas: gpus(101), Preemption: policy},
		{Name: "b", Cohort: "root", Quotas: gpus(10), Preemption: policy},
		{Name: "c", Cohort: "root"},
	}}
	st.Admitted = []workload.Workload{job("most", "a", 900, 95, 9), job("important", "a", 500, 5, 9),
		evicted(job("low", "c", 0, 4, 9)), job("lent", "c", 700, 7, 9)}
	asked := heads(job("first", "a", 600, 4, 2), job("second", "b", 100, 5, 1))
	asked[0].Preempting = true
	result := run(t, cycle.Config{}, snapshotOf(t, st), asked)
	if got, want := text(result), "first Wait PendingPreemption, second Preempt lent"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Replicas that leave for one head are gone for the next one: it takes others, and no more than
// it needs.
func TestSurplusLeavesOnce(t *testing.T) {
	elastic := job("elastic", "b", 0, 1, 9)
	elastic.PodSets[0].Count, elastic.PodSets[0].MinCount = 8, quota.Some(int64(2))
	s := snapshotOf(t, shared(elastic))
	result := run(t, cycle.Config{}, s, heads(job("first", "a", 5, 2, 3), job("second", "a", 5, 1, 2)))
	var counts []int64
	for _, h := range result.Heads {
		for _, v := range h.Decision.Victims {
			for _, r := range v.Replicas {
				counts = append(counts, r.Count)
			}
		}
	}
	if got, want := text(result), "first Preempt elastic, second Preempt elastic"; got != want || len(counts) != 2 || counts[0] != 2 || counts[1] != 1 {
		t.Errorf("%s, replicas %v; want %s, 2 and 1", got, counts, want)
	}
	left, ok := with(t, s, result.Edits()...).Find("elastic")
	if !ok || left.PodSets[0].Terminating != 3 {
		t.Errorf("%+v", left.PodSets)
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
