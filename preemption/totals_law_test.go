package preemption_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/reference"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// withTotals returns the workload with totals in some of the pod sets that may have them, and
// how many these are.
func withTotals(t *rapid.T, w workload.Workload) (workload.Workload, int) {
	w = w.Clone()
	changed := 0
	for i := range w.PodSets {
		p := &w.PodSets[i]
		if _, elastic := p.MinCount.Get(); elastic || p.Terminating > 0 || rapid.IntRange(0, 3).Draw(t, "per replica") == 0 {
			continue
		}
		for j := range p.Requests {
			p.Requests[j].Amount = p.Total(p.Requests[j].Amount)
		}
		p.Totals, p.Count = true, rapid.Int64Range(0, 5).Draw(t, "count")
		changed++
	}
	return w, changed
}

// Totals in place of amounts per replica give the same decision, by every route.
func totalsAreNothing(t *rapid.T, config preemption.Config) {
	st, r, d := draw(t, config)
	changed := 0
	other := cloneState(st)
	for i := range other.Admitted {
		n := 0
		other.Admitted[i], n = withTotals(t, other.Admitted[i])
		changed += n
	}
	r.Workload, _ = withTotals(t, r.Workload)
	s := snapshotOf(t, other)
	got := decideWith(t, config, s, r)
	if d.Admitted != nil && got.Admitted != nil {
		noDiff(t, "admitted with totals", d.Admitted.Usage(), got.Admitted.Usage())
		d.Admitted, got.Admitted = nil, nil
	}
	noDiff(t, "with totals", d, got, sameDecision)
	if err := verify.Decision(other, r, config, decideWith(t, config, s, r)); err != nil {
		t.Fatal(err)
	}
	want := reference.Decide(config, other, r)
	want.Admitted = nil
	noDiff(t, "- the reference, + the decision", want.Decision, timeless(d), sameDecision)
	synced, edits, err := snapshotOf(t, st).Sync(other)
	if err != nil || (len(edits) > 0) != (changed > 0) {
		t.Fatalf("%d edits for %d pod sets: %v", len(edits), changed, err)
	}
	noDiff(t, "", s.State(), synced.State(), sameDecision)
}

// What totals do not tell is refused wherever it would be read.
func TestTotalsAreRefusedWhereAReplicaCounts(t *testing.T) {
	total := job("total", "a", 0, 3, started(10))
	total.PodSets[0].Totals, total.PodSets[0].Requests[0].Amount = true, 5
	lower := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}
	s := snapshotOf(t, preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(10), Preemption: lower}}, Admitted: []workload.Workload{total}})
	for _, e := range []preemption.Edit{preemption.Remove("total", preemption.Replicas{PodSet: "main", Count: 1}), preemption.StartEviction("total", preemption.Replicas{PodSet: "main", Count: 1})} {
		after, err := s.With(e)
		wantFaults(t, err, `edits[0]: the totals of pod set "main" do not say what a replica takes (workload "total")`)
		if after != s {
			t.Error("a failed edit left a trace")
		}
	}
	r := pending("a", 10, 3)
	r.Workload.PodSets[0].Totals, r.Workload.PodSets[0].Requests[0].Amount = true, 7
	r.MinCounts = []preemption.Replicas{{PodSet: "main", Count: 1}}
	_, err := new(preemption.Preemptor).Decide(s, r)
	wantFaults(t, err, `request.minCounts[0].podSet: the totals of pod set "main" do not say what a replica takes`)
	r.MinCounts = nil
	if d := decide(t, s, r); text(d) != "Preempt: total InClusterQueue" || len(d.Victims[0].Replicas) > 0 {
		t.Errorf("%s %+v", text(d), d.Victims)
	}
	r.Workload.PodSets[0].Requests[0].Amount = 11
	for _, w := range explainWith(t, preemption.Config{}, s, r).Ways {
		if w.Kind == explain.WayReplicas {
			t.Errorf("%+v", w)
		}
		w.Kind, w.PodSet, w.Replicas = explain.WayReplicas, "main", 1
		if _, _, err := w.Apply(s, r); err == nil {
			t.Error("a number of replicas was changed")
		}
	}
}
