package preemption_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// A state, request or configuration that is not valid is a fault, each with its path.
func TestVerifyRefusesBadInput(t *testing.T) {
	r := pending("a", 10, 4)
	wantFaults(t, verify.Decision(small, r, preemption.Config{}, preemption.Decision{}), "decision.outcome")
	r.MinCounts = []preemption.Replicas{{PodSet: "main", Count: 2}}
	for _, n := range []int64{1, 5} { // of 4, at least 2
		d := decide(t, snapshotOf(t, small), r)
		d.Counts = []preemption.Replicas{{PodSet: "main", Count: n}}
		wantFaults(t, verify.Decision(small, r, preemption.Config{}, d), "decision.counts")
	}
	r.MinCounts = []preemption.Replicas{{PodSet: "none", Count: 1}}
	wantFaults(t, verify.Decision(small, r, preemption.Config{}, preemption.Decision{}), "request.minCounts[0].podSet")
	r.MinCounts = nil
	r.Workload.ID, r.Workload.Queue, r.Now = "", "nowhere", r.Now.AddDate(4000, 0, 0)
	wantFaults(t, verify.Decision(small, r, preemption.Config{}, preemption.Decision{}),
		"request.workload.id", "request.workload.queue", "request.now")
	st := small
	st.Admitted = []workload.Workload{job("a1", "gone", 0, -4, started(5))}
	wantFaults(t, verify.Decision(st, r, preemption.Config{Search: 9}, preemption.Decision{}),
		"admitted[0].podSets[0].count", "admitted[0].queue", "config.Search")
}

// gains is a cost that is negative.
type gains struct{}

func (gains) Lost(workload.Workload, string, time.Time) int64 { return -3 }

// A negative cost counts as zero, of a workload and of a replica.
func TestVerifyOfANegativeCost(t *testing.T) {
	st := preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(4), Preemption: reclaims}}, Admitted: []workload.Workload{job("runs", "a", 0, 4, started(5))}}
	r, config := pending("a", 10, 2), preemption.Config{Cost: gains{}}
	for _, surplus := range []int64{0, 2} {
		st.Admitted[0].PodSets[0].MinCount = quota.Some(4 - surplus)
		d := decideWith(t, config, snapshotOf(t, st), r)
		if len(d.Victims) != 1 || len(d.Victims[0].Replicas) != int(min(1, surplus)) {
			t.Fatalf("%s, %+v", text(d), d.Victims)
		}
		if err := verify.Decision(st, r, config, d); err != nil || d.Lost != 0 {
			t.Errorf("surplus %d: lost %d, %v", surplus, d.Lost, err)
		}
	}
}

// Stable fair sharing keeps w02 from policies: a rule took it, and Verify refuses the reason of a policy.
func TestVerifyStableBesideRules(t *testing.T) {
	q := readJSON[struct {
		Record   preemption.Record
		Decision preemption.Decision
	}](t, "verify-stable-by-rules.json")
	config := preemption.Config{
		Sharing:    preemption.Stable,
		Cost:       preemption.CostByAge{},
		Guards:     []preemption.Guard{preemptiontest.ByUID{Never: "none", Until: "u0", Time: preemptiontest.Now.Add(time.Hour)}},
		Protection: minruntime.Protection{Preempt: 14 * time.Minute, Reclaim: 20 * time.Minute, FairSharing: 10 * time.Minute, From: minruntime.Reservation},
	}
	st, r := q.Record.State, *q.Record.Request
	d := decideWith(t, config, snapshotOf(t, st), r)
	verified(t, st, r, config, d)
	for i := range d.Victims {
		if v := &d.Victims[i]; v.Workload == "w02" && v.Reason == preemption.ConfigurablePreemption {
			v.Reason = preemption.InClusterQueue
			if err := verify.Decision(st, r, config, d); err == nil {
				t.Error("a rule's victim passes with the reason of a policy that does not permit it")
			}
			return
		}
	}
	t.Errorf("no rule takes w02: %+v", d.Victims)
}

// Every decision is one that Verify has nothing against.
func decisionsVerify(t *rapid.T) {
	records := preemptiontest.Records()
	if rapid.IntRange(0, 4).Draw(t, "without flavors") == 0 {
		records = preemptiontest.RecordsWithoutFlavors()
	}
	record := records.Draw(t, "record")
	st, r := record.State, *record.Request
	config := preemptiontest.Configs().Draw(t, "config")
	protect(t, &config, &st)
	reevaluate(t, &config)
	r.Room = drawRoom(t, st)
	d := decideWith(t, config, snapshotOf(t, st), r)
	verified(t, st, r, config, d)
}

func TestDecisionsVerify(t *testing.T) { rapid.Check(t, decisionsVerify) }
