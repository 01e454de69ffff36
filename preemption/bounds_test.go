package preemption_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
)

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
	if got, want := fairText(t, preemption.Config{}, st, pending("a", 0, 1)), "Preempt: q00/1 InCohortFairSharing"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
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
