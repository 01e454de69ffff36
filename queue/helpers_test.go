package queue_test

import (
	"slices"
	"testing"
	"time"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func minute(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }

// The queues of the tests: "best" and "other" share a cohort tree, "strict" has its own.
var (
	cohorts = []queue.Cohort{{Name: "root"}, {Name: "left", Parent: "root"}, {Name: "far"}}
	queues  = []queue.Queue{{Name: "strict", Cohort: "far", Strategy: queue.StrictFIFO}, {Name: "best", Cohort: "left"},
		{Name: "other", Cohort: "root", Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}},
		{Name: "alone", Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}}
)

func waits(id, in string, priority int64, queued int, asks int64) workload.Workload {
	return workload.Workload{ID: id, Queue: in, Priority: priority, Queued: minute(queued),
		PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "r", Amount: asks}}}}}
}

func pending(t failer, list ...workload.Workload) *queue.Pending {
	t.Helper()
	p, err := queue.NewPending(cohorts, queues)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, w := range list {
		p = must(p.Add(w))(t)
	}
	return p
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

func must(p *queue.Pending, err error) func(failer) *queue.Pending {
	return func(t failer) *queue.Pending {
		t.Helper()
		if err != nil {
			t.Fatalf("%v", err)
		}
		return p
	}
}

func heads(p *queue.Pending) (ids []string) {
	for _, h := range p.Heads() {
		ids = append(ids, h.Workload.ID)
	}
	return ids
}

func headOf(p *queue.Pending, id string) queue.Head {
	for _, h := range p.Heads() {
		if h.Workload.ID == id {
			return h
		}
	}
	return queue.Head{Workload: workload.Workload{ID: id}}
}

func requeue(t failer, p *queue.Pending, id string, r queue.RequeueReason) *queue.Pending {
	t.Helper()
	return must(p.Requeue(headOf(p, id), queue.Requeue{Reason: r}))(t)
}

func wantHeads(t *testing.T, rule string, p *queue.Pending, want ...string) {
	t.Helper()
	if got := heads(p); !slices.Equal(got, want) {
		t.Errorf("%s: heads %q, want %q", rule, got, want)
	}
}
