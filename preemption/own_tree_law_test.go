package preemption_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
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
