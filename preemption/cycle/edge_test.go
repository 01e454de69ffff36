package cycle_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
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
		{preemption.Config{RulesAlone: true}, "nobody", kept}, {preemption.Config{RulesAlone: true}, "unknown", lent},
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

// "Nil: if there are such rules, no two workloads are alike": one guard is such a rule.
func TestOneGuardMakesAllUnlike(t *testing.T) {
	one, two := job("one", "a", 0, 1, 0), job("two", "a", 0, 1, 0)
	for guards, want := range map[int]bool{0: true, 1: false, 2: false} {
		c, err := cycle.New(cycle.Config{Preemption: preemption.Config{Guards: []preemption.Guard{odd{}, odd{}}[:guards]}})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Alike(one) == c.Alike(two); got != want {
			t.Errorf("with %d guards they are alike: %v, want %v", guards, got, want)
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

// "Alike says what the rules of this cycle read": what the caller says, behind the time at which a
// workload was made if that counts.
func TestAlikeIsWhatTheCallerSays(t *testing.T) {
	one, same, other := job("one", "a", 0, 1, 0), job("same", "a", 0, 1, 0), job("other", "a", 0, 1, 0)
	one.Labels, same.Labels, other.Labels = map[string]string{"team": "x"}, map[string]string{"team": "x"}, map[string]string{"team": "y"}
	same.Created = one.Created.Add(time.Second)
	for _, created := range []bool{false, true} {
		c, err := cycle.New(cycle.Config{
			Preemption: preemption.Config{Guards: []preemption.Guard{odd{}}, NewerByReservation: created},
			Alike:      func(w workload.Workload) string { return w.Labels["team"] },
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Alike(one) == c.Alike(same); got == created {
			t.Errorf("one team, newer by reservation %v: alike %v", created, got)
		}
		if c.Alike(one) == c.Alike(other) {
			t.Errorf("two teams are alike: %q", c.Alike(one))
		}
	}
}
