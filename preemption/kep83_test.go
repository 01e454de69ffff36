package preemption_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// now is the time of the scenarios; started(n) is n minutes before it.
var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func started(minutesAgo int) time.Time { return now.Add(-time.Duration(minutesAgo) * time.Minute) }

func gpus(nominal int64) []quota.Quota {
	return []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: nominal}}
}

func job(id, queueName string, priority, gpus int64, at time.Time) workload.Workload {
	return workload.Workload{
		ID: id, Queue: queueName, Priority: priority, Created: at, Queued: at, ReservedAt: at,
		PodSets: []workload.PodSet{{Name: "main", Count: gpus, Requests: []quota.Amount{
			{Flavor: "h100", Resource: "gpu", Amount: 1},
		}}},
	}
}

func pending(queueName string, priority, gpus int64) preemption.Request {
	return preemption.Request{Workload: job("pending", queueName, priority, gpus, now), Now: now}
}

var reclaims = queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.LowerPriority}

// Each scenario checks one sentence. The text of an answer is the outcome, then
// victims as "id reason", or rules of blockers as "rule queue workload".
func TestKEP83(t *testing.T) {
	cohort := []queue.Cohort{{Name: "c"}}
	for _, c := range []struct {
		sentence string
		state    preemption.State
		request  preemption.Request
		want     string
	}{{
		"Already fitting requests answer Fits with no victims.",
		preemption.State{
			Queues:   []queue.Queue{{Name: "a", Quotas: gpus(8), Preemption: reclaims}},
			Admitted: []workload.Workload{job("low", "a", 0, 4, started(5))},
		},
		pending("a", 10, 4),
		"Fits",
	}, {
		"We skip preemption if withinCohort=Never and withinClusterQueue=Never (Preemption, step 1).",
		preemption.State{
			Queues:   []queue.Queue{{Name: "a", Quotas: gpus(8)}},
			Admitted: []workload.Workload{job("low", "a", 0, 8, started(5))},
		},
		pending("a", 10, 4),
		"Impossible: WithinClusterQueue a low",
	}, {
		"In the cohort, we only consider ClusterQueues that are currently borrowing quota (step 2.1).",
		preemption.State{
			Cohorts: cohort,
			Queues: []queue.Queue{
				{Name: "a", Cohort: "c", Quotas: gpus(4), Preemption: reclaims},
				{Name: "borrows", Cohort: "c"}, {Name: "within", Cohort: "c", Quotas: gpus(4)},
			},
			Admitted: []workload.Workload{job("taken", "borrows", 5, 4, started(5)), job("kept", "within", 0, 4, started(5))},
		},
		pending("a", 10, 4),
		"Preempt: taken InCohortReclamation",
	}, {
		"In the ClusterQueue, we only select Workloads with lower priority than the pending Workload (step 2.2).",
		preemption.State{
			Queues:   []queue.Queue{{Name: "a", Quotas: gpus(8), Preemption: reclaims}},
			Admitted: []workload.Workload{job("equal", "a", 10, 4, started(1)), job("lower", "a", 9, 4, started(9))},
		},
		pending("a", 10, 4),
		"Preempt: lower InClusterQueue",
	}, {
		"We filter out the Workloads that are not using the flavors that were selected (step 2).",
		preemption.State{
			Queues: []queue.Queue{{Name: "a", Quotas: gpus(4), Preemption: reclaims}},
			Admitted: []workload.Workload{
				job("gpus", "a", 5, 4, started(5)),
				{ID: "cpus", Queue: "a", PodSets: []workload.PodSet{{Count: 1, Requests: []quota.Amount{{Flavor: "h100", Resource: "cpu", Amount: 1}}}}},
			},
		},
		pending("a", 10, 4),
		"Preempt: gpus InClusterQueue",
	}, {
		"Workloads from other ClusterQueues in the cohort first (step 3.1).",
		preemption.State{
			Cohorts: cohort,
			Queues: []queue.Queue{
				{Name: "a", Cohort: "c", Quotas: gpus(8), Preemption: reclaims}, {Name: "b", Cohort: "c"},
			},
			Admitted: []workload.Workload{job("own", "a", 0, 4, started(5)), job("other", "b", 9, 4, started(5))},
		},
		pending("a", 10, 4),
		"Preempt: other InCohortReclamation",
	}, {
		"Lower priority first (step 3.2).",
		preemption.State{
			Queues:   []queue.Queue{{Name: "a", Quotas: gpus(8), Preemption: reclaims}},
			Admitted: []workload.Workload{job("5", "a", 5, 4, started(1)), job("1", "a", 1, 4, started(9))},
		},
		pending("a", 10, 4),
		"Preempt: 1 InClusterQueue",
	}, {
		"Shortest running time first (step 3.3).",
		preemption.State{
			Queues:   []queue.Queue{{Name: "a", Quotas: gpus(8), Preemption: reclaims}},
			Admitted: []workload.Workload{job("long", "a", 5, 4, started(9)), job("short", "a", 5, 4, started(1))},
		},
		pending("a", 10, 4),
		"Preempt: short InClusterQueue",
	}, {
		"Skip removing more Workloads from a ClusterQueue if its usage is already below its min quota (step 4).",
		preemption.State{
			Cohorts: cohort,
			Queues: []queue.Queue{
				{Name: "a", Cohort: "c", Quotas: gpus(8), Preemption: reclaims}, {Name: "b", Cohort: "c", Quotas: gpus(4)},
			},
			Admitted: []workload.Workload{
				job("b1", "b", 0, 4, started(1)), job("b2", "b", 0, 4, started(2)), job("a1", "a", 0, 4, started(3)),
			},
		},
		pending("a", 10, 8), // a1 goes, though b2 comes before it: without b1, b is within its quota
		"Preempt: a1 InClusterQueue, b1 InCohortReclamation",
	}, {
		"In the reverse order, add Workloads back as long as the incoming Workload still fits (step 5).",
		preemption.State{
			Queues: []queue.Queue{{Name: "a", Quotas: gpus(8), Preemption: reclaims}},
			Admitted: []workload.Workload{
				job("1", "a", 1, 1, started(1)), job("2", "a", 2, 2, started(1)), job("3", "a", 3, 5, started(1)),
			},
		},
		pending("a", 10, 6), // all three are taken, then 2 comes back, since 1 and 5 are enough
		"Preempt: 1 InClusterQueue, 3 InClusterQueue",
	}, {
		"Assignments that require preemption implicitly do not borrow quota (Detecting Workloads).",
		preemption.State{
			Cohorts: cohort,
			Queues: []queue.Queue{
				{Name: "a", Cohort: "c", Quotas: gpus(4), Preemption: reclaims}, {Name: "b", Cohort: "c", Quotas: gpus(4)},
			},
			Admitted: []workload.Workload{job("b1", "b", 0, 8, started(1))},
		},
		pending("a", 10, 6),
		"Impossible: BorrowWithinCohort b b1",
	}, {
		"borrowWithinCohort permits it, of lower priority and at or under the threshold (as built in Kueue).",
		preemption.State{
			Cohorts: cohort,
			Queues: []queue.Queue{
				{Name: "a", Cohort: "c", Quotas: gpus(4), Preemption: queue.PreemptionPolicy{
					ReclaimWithinCohort: queue.Any,
					BorrowWithinCohort:  queue.BorrowWithinCohort{Policy: queue.LowerPriority, MaxPriorityThreshold: queue.AtMostPriority(3)},
				}},
				{Name: "b", Cohort: "c", Quotas: gpus(4)},
			},
			Admitted: []workload.Workload{
				job("at", "b", 3, 2, started(1)), job("over", "b", 4, 6, started(1)),
			},
		},
		pending("a", 10, 6),
		"Impossible: BorrowWithinCohort b over",
	}, {
		"Newer compares queue-order timestamps: the victim's is strictly later (LowerOrNewerEqualPriority).",
		preemption.State{
			Queues: []queue.Queue{{Name: "a", Quotas: gpus(8), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerOrNewerEqualPriority}}},
			Admitted: []workload.Workload{
				job("same", "a", 10, 4, now), job("later", "a", 10, 4, now.Add(time.Nanosecond)),
			},
		},
		pending("a", 10, 4),
		"Preempt: later InClusterQueue",
	}, {
		"A queue that fits in its subtree reclaims across subtrees whatever borrowWithinCohort says (hierarchical).",
		preemption.State{
			Cohorts: []queue.Cohort{{Name: "root"}, {Name: "left", Parent: "root", Quotas: gpus(4)}, {Name: "right", Parent: "root"}},
			Queues: []queue.Queue{
				{Name: "a", Cohort: "left", Preemption: reclaims}, {Name: "b", Cohort: "right"},
			},
			Admitted: []workload.Workload{job("b1", "b", 0, 4, started(1))},
		},
		pending("a", 10, 4),
		"Preempt: b1 InCohortReclamation",
	}, {
		"Evicted workloads are taken first, whatever their priority.",
		preemption.State{
			Queues: []queue.Queue{{Name: "a", Quotas: gpus(8), Preemption: reclaims}},
			Admitted: []workload.Workload{
				job("low", "a", 0, 4, started(1)), func() workload.Workload { w := job("leaving", "a", 5, 4, started(1)); w.Evicted = true; return w }(),
			},
		},
		pending("a", 10, 4),
		"Preempt: leaving InClusterQueue",
	}} {
		got := text(decide(t, snapshotOf(t, c.state), c.request))
		if got != c.want {
			t.Errorf("%s\n got  %s\n want %s", c.sentence, got, c.want)
		}
	}
}

func text(d preemption.Decision) string {
	var list []string
	for _, v := range d.Victims {
		list = append(list, v.Workload+" "+v.Reason.String())
	}
	for _, b := range d.Blockers {
		list = append(list, strings.TrimSpace(b.Rule.String()+" "+b.Queue+" "+b.Workload))
	}
	if len(list) == 0 {
		return d.Outcome.String()
	}
	return d.Outcome.String() + ": " + strings.Join(list, ", ")
}

// Impossible says what is missing, at which node, and what there could be at most.
func TestShortage(t *testing.T) {
	limited := gpus(4)
	limited[0].BorrowingLimit = quota.AtMost(2)
	s := snapshotOf(t, preemption.State{
		Cohorts: []queue.Cohort{{Name: "root"}, {Name: "mid", Parent: "root", Quotas: limited}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "mid"}, {Name: "b", Cohort: "mid"}, {Name: "limited", Cohort: "mid", Quotas: limited},
			{Name: "idle", Cohort: "root", Quotas: gpus(40)},
		},
		Admitted: []workload.Workload{job("b1", "b", 0, 7, started(1))},
	})
	for _, c := range []struct {
		queue     string
		asked     int64
		missing   int64
		potential int64
		cohort    string
		blockers  int
	}{
		{"a", 4, 1, 10, "mid", 1},  // 8 and 2 borrowed less 7: mid's limit is the bound
		{"a", 12, 9, 10, "mid", 0}, // more than there could be: nobody's leaving helps
		{"limited", 7, 4, 6, "mid", 0},
	} {
		d := decide(t, s, pending(c.queue, 10, c.asked))
		want := preemption.Shortage{
			FlavorResource: quota.FlavorResource{Flavor: "h100", Resource: "gpu"},
			Missing:        c.missing, PotentialAvailable: c.potential, Cohort: c.cohort,
		}
		if !slices.Equal(d.Shortage, []preemption.Shortage{want}) || len(d.Blockers) != c.blockers {
			t.Errorf("%s asks for %d: %+v, %d blockers, want %+v, %d", c.queue, c.asked, d.Shortage, len(d.Blockers), want, c.blockers)
		}
	}
}
