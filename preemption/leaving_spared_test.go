package preemption_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/workload"
)

// What leaves already and is not needed is no victim, whatever the search: of a workload one replica of one
// pod set leaves, and a replica of another is enough alone.
func TestLeavingReplicaIsSpared(t *testing.T) {
	w := job("e", "a", 0, 2, started(5))
	w.PodSets = append(w.PodSets, workload.PodSet{Name: "second", Count: 2, MinCount: workload.AtLeast(1), Requests: job("e", "a", 0, 2, now).PodSets[0].Requests})
	w.PodSets[1].Requests[0].Amount = 2
	w.PodSets[0].MinCount, w.PodSets[0].Terminating = workload.AtLeast(0), 1
	st := shared(0, w)
	st.Queues[0].Quotas = gpus(6)
	for _, search := range []preemption.Search{preemption.Greedy, preemption.Exchange, preemption.Exact} {
		config := preemption.Config{Search: search}
		r := pending("a", 10, 2)
		d := decideWith(t, config, snapshotOf(t, st), r)
		if got := fmt.Sprint(d.Victims[0].Replicas); got != "[{second 1 0}]" {
			t.Errorf("%v: %v", search, got)
		}
		if err := verify.Decision(st, r, config, d); err != nil {
			t.Errorf("%v: %v", search, err)
		}
	}
}

// Verify counts a workload of which some replicas leave already, and others yield, within the limits.
func TestVerifyCountsReplicasBesideThoseThatLeave(t *testing.T) {
	e := elastic("e", "a", 2, 0, started(1))
	e.PodSets[0].Terminating = 1
	st := shared(0, e, job("f", "a", 0, 2, started(2)))
	r := pending("a", 10, 4)
	d := decide(t, snapshotOf(t, st), r)
	if len(d.Victims) != 2 {
		t.Fatalf("%+v", d.Victims)
	}
	for n, want := range map[int64]bool{1: false, 2: true} {
		config := preemption.Config{Limits: atMost(n)}
		if err := verify.Decision(st, r, config, d); (err == nil) != want {
			t.Errorf("at most %d: %v", n, err)
		}
	}
}
