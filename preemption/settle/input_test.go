package settle_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// "It fails with preemption.Faults of everything wrong."
func TestRequestFaults(t *testing.T) {
	s := snapshot(t, preemption.State{Cohorts: []queue.Cohort{{Name: "all"}}, Queues: []queue.Queue{{Name: "a", Cohort: "all"}}})
	a := settle.Node{Queue: "a"}
	for want, r := range map[string]settle.Request{
		"request.now: is not set": {},
		"request.now: 1500-01-01 00:00:00 +0000 UTC is not within the years 1678 to 2262": {Now: time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC)},
		"request.maxVictims: -1 is negative":                                              {Now: now, MaxVictims: -1},
		`request.nodes[0].queue: unknown queue "b"; request.nodes[1].cohort: unknown cohort "c"; ` +
			`request.nodes[2]: names queue "a" and cohort "all"; request.nodes[3]: names no queue and no cohort`: {
			Now: now, Nodes: []settle.Node{{Queue: "b"}, {Cohort: "c"}, {Queue: "a", Cohort: "all"}, {}},
		},
		`request.delays[1].for: -1s is negative; request.delays[2]: queue "a" has an entry already`: {
			Now: now, Delays: []settle.Delay{{For: time.Minute}, {Node: a, For: -time.Second}, {Node: a}},
		},
		`request.since[0].at: is not set; request.since[1]: queue "a" has an entry already`: {
			Now: now, Since: []settle.Since{{Node: a}, {Node: a, At: now}},
		},
	} {
		if _, err := settle.Decide(nil, s, r); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// Shares say who is entitled, not who leaves what is over a limit.
func TestFairShares(t *testing.T) {
	tree := fairshare.Tree{Resources: []fairshare.Resource{{Name: "gpu", Total: 8}}, Queues: []fairshare.Queue{
		{Name: "a", Claims: []fairshare.Claim{{Resource: "gpu", Quota: 8, Limit: quota.AtMost(2), Request: 4}}}}}
	st := preemption.State{FairShares: tree}
	st.Cohorts, st.Queues = preemption.QueuesOf(tree, "all", "f")
	for _, id := range []string{"one", "two"} {
		st.Admitted = append(st.Admitted, workload.Workload{ID: id, Queue: "a", ReservedAt: now, PodSets: []workload.PodSet{
			{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: 2}}}}})
	}
	s := snapshot(t, st)
	if a, err := settle.Decide(nil, s, settle.Request{Now: now}); err != nil || len(a.Victims) != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	p, err := preemption.New(preemption.Config{Sharing: preemption.KAI})
	if err != nil {
		t.Fatal(err)
	}
	want := "config.Sharing: is KAI, which says nothing about usage over a limit: give a preemptor with another"
	if _, err := settle.Decide(p, s, settle.Request{Now: now}); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// "Of nodes that are still over as before, of others since now. A node that is within what it may use is forgotten."
func TestObserve(t *testing.T) {
	a, b, c := settle.Node{Queue: "a"}, settle.Node{Queue: "b"}, settle.Node{Cohort: "c"}
	before := []settle.Since{{Node: a, At: now.Add(-time.Hour)}, {Node: b, At: now.Add(-time.Minute)}}
	got := settle.Observe(before, []preemption.Excess{{Queue: "b", Amount: 1}, {Queue: "b", Amount: 2}, {Cohort: "c", Amount: 3}}, now)
	want := []settle.Since{{Node: b, At: now.Add(-time.Minute)}, {Node: c, At: now}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%v, want %v", got, want)
	}
}

// An empty snapshot and a nil preemptor have nothing to settle.
func TestNothingToSettle(t *testing.T) {
	a, err := settle.Decide(nil, nil, settle.Request{Now: now})
	if err != nil || a.Outcome != preemption.Fits || len(a.Edits()) > 0 {
		t.Errorf("%+v, %v", a, err)
	}
}
