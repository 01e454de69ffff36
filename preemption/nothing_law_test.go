package preemption_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// A snapshot of the cohort tree of the request's queue alone decides as the whole one does.
func ownTreeIsEnough(t *rapid.T, config preemption.Config) {
	record := preemptiontest.Records().Draw(t, "record")
	whole := decideWith(t, config, snapshotOf(t, record.State), *record.Request)
	own := ownTree(record.State, record.Request.Workload.Queue)
	noDiff(t, "by the own tree alone", whole, decideWith(t, config, snapshotOf(t, own), *record.Request), sameDecision)
}

// ownTree returns the part of a state that is in the cohort tree of a queue.
func ownTree(st preemption.State, name string) preemption.State {
	parents := map[string]string{}
	for _, c := range st.Cohorts {
		parents[c.Name] = c.Parent
	}
	root := func(cohort string) string {
		for parents[cohort] != "" {
			cohort = parents[cohort]
		}
		return cohort
	}
	var tree string // empty: the queue is in no cohort
	for _, q := range st.Queues {
		if q.Name == name {
			tree = root(q.Cohort)
		}
	}
	kept := map[string]bool{}
	own := preemption.State{Flavors: st.Flavors}
	for _, q := range st.Queues {
		if q.Name == name || tree != "" && root(q.Cohort) == tree {
			own.Queues, kept[q.Name] = append(own.Queues, q), true
		}
	}
	own.Cohorts = slices.DeleteFunc(slices.Clone(st.Cohorts), func(c queue.Cohort) bool { return root(c.Name) != tree })
	own.Admitted = slices.DeleteFunc(slices.Clone(st.Admitted), func(w workload.Workload) bool { return !kept[w.Queue] })
	return own
}

// The law leaves something out: of a world of ten cohorts a tenth is enough.
func TestOwnTreeIsSmall(t *testing.T) {
	w := scenario.Worlds[1]
	st := w.State()
	own := ownTree(st, st.Queues[0].Name)
	if len(own.Cohorts) != 1 || len(own.Queues) != w.Group || len(own.Admitted) != w.Group*w.Each {
		t.Errorf("%d cohorts, %d queues, %d workloads", len(own.Cohorts), len(own.Queues), len(own.Admitted))
	}
	for _, q := range w.Scenarios() {
		if q.Request.Workload.Queue != st.Queues[0].Name {
			continue
		}
		if diff := cmp.Diff(decide(t, snapshotOf(t, st), q.Request), decide(t, snapshotOf(t, own), q.Request), sameDecision); diff != "" {
			t.Errorf("%s: %s", q.Name, diff)
		}
	}
}

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
	agrees(t, config, other, r, got)
	verified(t, other, r, config, got)
	if d.Admitted != nil && got.Admitted != nil {
		noDiff(t, "admitted with totals", d.Admitted.Usage(), got.Admitted.Usage())
		d.Admitted, got.Admitted = nil, nil
	}
	noDiff(t, "with totals", d, got, sameDecision)
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

// Leaving is leaving: a request that is asked again, when its victims were told to stop and are
// still there, takes nothing that was not told to stop.
func askingAgainTakesNoMore(t *rapid.T, config preemption.Config) {
	rec := preemptiontest.Records().Draw(t, "record")
	takesNoMore(t, config, rec.State, *rec.Request, decideWith(t, config, snapshotOf(t, rec.State), *rec.Request))
}

func takesNoMore(t *rapid.T, config preemption.Config, st preemption.State, r preemption.Request, d preemption.Decision) {
	if d.Outcome != preemption.Preempt {
		return
	}
	again := decideWith(t, config, edit(t, snapshotOf(t, st), d.Edits()...), r)
	if again.Outcome != preemption.Preempt {
		t.Fatalf("%v, asked again %v", d.Victims, again.Outcome)
	}
	if !leavingAlone(again) {
		t.Fatalf("%v, asked again %v: not all were told to stop", d.Victims, again.Victims)
	}
	if edits := again.Edits(); len(edits) > 0 {
		t.Fatalf("%v, asked again %v: %d edits more", d.Victims, again.Victims, len(edits))
	}
}

// leavingAlone reports whether all victims were told to stop before.
func leavingAlone(d preemption.Decision) bool {
	return len(d.Victims) > 0 && !slices.ContainsFunc(d.Victims, func(v preemption.Victim) bool { return !v.Leaving })
}

// Totals of no replicas are held as those of any number: what never yields keeps them.
func TestTotalsOfNoReplicas(t *testing.T) {
	never := job("never", "a", 0, 0, started(10))
	never.NeverYields = true
	never.PodSets[0].Totals, never.PodSets[0].Requests[0].Amount = true, 5
	st := preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(5), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}},
		Admitted: []workload.Workload{never}}
	r := preemption.Request{Workload: job("new", "a", 9, 5, time.Time{}), Now: now}
	d := decide(t, snapshotOf(t, st), r)
	if len(d.Blockers) != 1 || d.Blockers[0].Rule != preemption.RuleNeverYields || d.Blockers[0].Workload != "never" {
		t.Errorf("kept by %v", d.Blockers)
	}
	agrees(t, preemption.Config{}, st, r, d)
}
