package preemption_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// chain is a tree of one branch: a queue at the end of n cohorts.
func chain(n int) preemption.State {
	var st preemption.State
	for i := range n {
		c := queue.Cohort{Name: fmt.Sprintf("c%d", i)}
		if i > 0 {
			c.Parent = fmt.Sprintf("c%d", i-1)
		}
		st.Cohorts = append(st.Cohorts, c)
	}
	last := st.Cohorts[n-1].Name
	st.Queues = []queue.Queue{
		{Name: "a", Cohort: last, Quotas: gpus(4), Preemption: reclaims}, {Name: "b", Cohort: last},
	}
	return st
}

// A deep tree is slow in proportion, and overflows nothing.
func TestDeepTree(t *testing.T) {
	st := chain(20_000)
	st.Admitted = []workload.Workload{job("b1", "b", 0, 4, started(1))}
	s := snapshotOf(t, st)
	wantText(t, text(decide(t, s, pending("a", 1, 4))), "Preempt: b1 InCohortReclamation")
	d := decide(t, s, pending("b", 1, 1))
	if d.Outcome != preemption.Impossible || d.BorrowHeight != 20_000 {
		t.Errorf("%v, borrow height %d", d.Outcome, d.BorrowHeight)
	}
	edit(t, s, d.Edits()...)
}

// A small input that would need a large memory is refused.
func TestManyFlavorsInADeepTree(t *testing.T) {
	st := chain(3000)
	for i := range 10_000 {
		st.Queues[0].Quotas = append(st.Queues[0].Quotas, quota.Quota{Flavor: fmt.Sprintf("f%d", i), Resource: "cpu"})
	}
	refused(t, st, "more than 16777216 cells (")
	st = chain(3000)
	for i := range 10 {
		w := job(fmt.Sprintf("w%d", i), "a", 0, 1, started(1))
		for j := range 1000 {
			w.PodSets[0].Requests = append(w.PodSets[0].Requests, quota.Amount{Flavor: fmt.Sprintf("f%d-%d", i, j), Resource: "cpu", Amount: 1})
		}
		st.Admitted = append(st.Admitted, w)
	}
	refused(t, st, "more than 16777216 cells of usage")
}

func refused(t *testing.T, st preemption.State, want string) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := preemption.NewSnapshot(st)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 256<<20 {
		t.Errorf("refused after allocating %d MiB", used>>20)
	}
}

// However many queues contend, the sums refuse only what does not fit.
func TestFairAmongManyQueues(t *testing.T) {
	var names []string
	for i := range 80 {
		names = append(names, fmt.Sprintf("q%02d", i))
	}
	st := borrowers(fairPolicy, append(names, "a")...)
	st.Queues[0].Quotas = gpus(160)
	for _, name := range names {
		st.Admitted = append(st.Admitted, job(name+"/1", name, 0, 1, started(5)), job(name+"/2", name, 0, 1, started(6)))
	}
	wantText(t, fairText(t, preemption.Config{}, st, pending("a", 0, 1)), "Preempt: q00/1 InCohortFairSharing")
	c := preemption.Config{Sharing: preemption.Fair}
	st.Queues[1].Preemption = queue.PreemptionPolicy{ReclaimWithinCohort: queue.LowerPriority}
	d := decideWith(t, c, snapshotOf(t, st), pending("q00", 0, 1)) // nobody is of lower priority
	if d.Outcome != preemption.Impossible || len(d.Shortage) != 1 || d.Shortage[0].Missing != 1 || len(d.Blockers) == 0 {
		t.Errorf("%+v", d)
	}
}

// That a request is hopeless is proven by the sums of all donors, whichever queue or cohort is
// the first of the snapshot and however deep it is: all of twelve victims may be there.
func TestManyVictimsInTheFirstQueue(t *testing.T) {
	for _, path := range [][]string{{"in"}, {"in", "on"}, {"in", "on", "top"}} {
		st := preemption.State{Cohorts: []queue.Cohort{{Name: "root"}}, Queues: []queue.Queue{
			{Name: "a", Cohort: path[0], Quotas: gpus(0)}, {Name: "z", Cohort: "root", Quotas: gpus(12), Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}},
		}}
		for i, name := range path {
			st.Cohorts = append(st.Cohorts, queue.Cohort{Name: name, Parent: append(path, "root")[i+1]})
		}
		for i := range 12 {
			st.Admitted = append(st.Admitted, job(fmt.Sprintf("w%02d", i), "a", 0, 1, started(i)))
		}
		for _, sharing := range []preemption.Sharing{preemption.Classical, preemption.Fair} {
			d, err := preemptorOf(preemption.Config{Sharing: sharing}).Decide(snapshotOf(t, st), pending("z", 0, 12))
			if err != nil || d.Outcome != preemption.Preempt || len(d.Victims) != 12 {
				t.Errorf("%v, under %v: %v, %d victims, %v", sharing, path, d.Outcome, len(d.Victims), err)
			}
		}
	}
}
