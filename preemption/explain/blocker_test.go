package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// A blocker's words are true of its priority, age and time, for each policy.
func TestBlockerWords(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	gpus := func(n int64) []workload.PodSet {
		return []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: n}}}}
	}
	never, lower, newer := queue.Never, queue.LowerPriority, queue.LowerOrNewerEqualPriority
	for name, c := range map[string]struct {
		policy   queue.PreemptionPolicy
		other    bool  // the workload runs in the other queue of the cohort
		priority int64 // of the workload; the request has 10
		borrow   int64 // what is asked for beyond the nominal quota
		fair     bool
		want     string
	}{
		"never in the own queue":     {queue.PreemptionPolicy{WithinClusterQueue: never}, false, 1, 0, false, "withinClusterQueue is Never"},
		"equal, not lower":           {queue.PreemptionPolicy{WithinClusterQueue: lower}, false, 10, 0, false, "withinClusterQueue is LowerPriority, and its priority of 10 is equal, not lower"},
		"higher":                     {queue.PreemptionPolicy{WithinClusterQueue: lower}, false, 11, 0, false, "withinClusterQueue is LowerPriority, and its priority of 11 is above 10"},
		"equal and older":            {queue.PreemptionPolicy{WithinClusterQueue: newer}, false, 10, 0, false, "withinClusterQueue is LowerOrNewerEqualPriority, and its priority is equal and it is not newer"},
		"higher, newer permitted":    {queue.PreemptionPolicy{WithinClusterQueue: newer}, false, 12, 0, false, "withinClusterQueue is LowerOrNewerEqualPriority, and its priority of 12 is above 10"},
		"equal, its time not over":   {queue.PreemptionPolicy{WithinClusterQueue: newer, MinAdmitDuration: quota.Some(2 * time.Hour)}, false, 10, 0, false, "withinClusterQueue is LowerOrNewerEqualPriority, and its priority is equal, it is not newer, and its minAdmitDuration of 2h0m0s is not over, until 13:00:00"},
		"never in the cohort":        {queue.PreemptionPolicy{ReclaimWithinCohort: never}, true, 1, 0, false, "reclaimWithinCohort is Never"},
		"not lower in the cohort":    {queue.PreemptionPolicy{ReclaimWithinCohort: lower}, true, 10, 0, false, "reclaimWithinCohort is LowerPriority, and its priority of 10 is equal, not lower"},
		"it would borrow":            {queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}, true, 1, 2, false, "the request would borrow, and borrowWithinCohort is Never"},
		"above the threshold":        {queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any, BorrowWithinCohort: queue.BorrowWithinCohort{Policy: lower, MaxPriorityThreshold: quota.Some(int64(3))}}, true, 5, 2, false, "the request would borrow, and borrowWithinCohort is LowerPriority, and its priority of 5 is above the maxPriorityThreshold of 3"},
		"shares do not permit":       {queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}, true, 1, 4, true, "fair sharing does not permit enough of it to yield"},
		"borrows nothing to reclaim": {queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}, true, 1, -4, false, "it borrows nothing of what is short: there is nothing to reclaim"},
	} {
		t.Run(name, func(t *testing.T) {
			nominal, others := int64(8), int64(0)
			runs := workload.Workload{ID: "runs", Queue: "a", Priority: c.priority, Queued: now.Add(-3 * time.Hour), ReservedAt: now.Add(-time.Hour), PodSets: gpus(8)}
			if c.other {
				runs.Queue, others = "b", 4
				nominal = 4
			}
			if c.borrow < 0 { // the other queue holds its own
				others, nominal = 8, 0
			}
			p := c.policy
			s, err := preemption.NewSnapshot(preemption.State{
				Cohorts: []queue.Cohort{{Name: "c"}},
				Queues: []queue.Queue{
					{Name: "a", Cohort: "c", Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: nominal}}, Preemption: p},
					{Name: "b", Cohort: "c", Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: others}}},
				},
				Admitted: []workload.Workload{runs},
			})
			if err != nil {
				t.Fatal(err)
			}
			config := preemption.Config{}
			if c.fair {
				config.Sharing = preemption.Fair
			}
			preemptor := must(preemption.New(config))(t)
			ask := int64(4) + c.borrow
			if c.borrow < 0 {
				ask = 4
			}
			r := preemption.Request{Workload: workload.Workload{ID: "w", Queue: "a", Priority: 10, Queued: now, PodSets: gpus(ask)}, Now: now}
			d, err := preemptor.Decide(s, r)
			if err != nil || len(d.Blockers) == 0 {
				t.Fatalf("%+v, %v", d, err)
			}
			if got := explain.Blocker(s, &r, d.Blockers[0]); got != c.want {
				t.Errorf("%+v: %q, want %q", d.Blockers, got, c.want)
			}
		})
	}
}

// A workload that uses nothing of what is short is said to, whatever policy or quota would keep it besides; and
// of a search that failed by shares, what the shares keep may not yield.
func TestLevelsSayWhatKeeps(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	job := func(id, queue, flavor string, n int64) workload.Workload {
		return workload.Workload{ID: id, Queue: queue, ReservedAt: now.Add(-time.Hour), PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: flavor, Resource: "gpu", Amount: n}}}}}
	}
	both := func(f, g int64) []quota.Quota {
		return []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: f}, {Flavor: "g", Resource: "gpu", Nominal: g}}
	}
	s, err := preemption.NewSnapshot(preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "c", Quotas: both(4, 4), Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}},
			{Name: "b", Cohort: "c", Quotas: both(4, 4)}, {Name: "own", Cohort: "c", Quotas: both(0, 4)},
		},
		Admitted: []workload.Workload{job("large", "b", "f", 8), job("other-flavor", "own", "g", 2), job("waits-own", "a", "g", 2)},
	})
	if err != nil {
		t.Fatal(err)
	}
	preemptor := must(preemption.New(preemption.Config{Sharing: preemption.Fair}))(t)
	w := job("w", "a", "f", 8)
	w.ReservedAt, w.Queued = time.Time{}, now
	e := must(explain.Explain(preemptor, s, preemption.Request{Workload: w, Now: now}))(t)
	text := explain.Text(e.Steps)
	for _, want := range []string{
		"1 uses nothing of what is short: waits-own", "1 uses nothing of what is short: other-flavor", "1 is not permitted to yield by fair sharing: large",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "may yield as far") || len(e.Decision.Blockers) == 0 || e.Decision.Blockers[0].Rule != preemption.RuleFairShare {
		t.Errorf("%+v\n%s", e.Decision.Blockers, text)
	}
}
