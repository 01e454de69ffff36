package bridge_test

import (
	"slices"
	"testing"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
)

// A doubt about a queue or cohort reaches each answer in its cohort tree, one about a workload the
// answer about it, one about nothing in particular each answer.
func TestDoubtsReachTheTree(t *testing.T) {
	c := bridge.Cluster{
		State: preemption.State{
			Cohorts: []queue.Cohort{{Name: "root"}, {Name: "left", Parent: "root"}, {Name: "other"}},
			Queues:  []queue.Queue{{Name: "a", Cohort: "left"}, {Name: "b", Cohort: "root"}, {Name: "c", Cohort: "other"}, {Name: "alone"}, {Name: "root"}},
		},
	}
	doubt := func(text string) bridge.Doubt { return bridge.Doubt{Note: bridge.Note{Object: text, Text: text}} }
	all, one, ofQueue, gone, ofCohort, alone := doubt("all"), doubt("one"), doubt("queue"), doubt("gone"), doubt("cohort"), doubt("alone")
	one.Workload, ofQueue.Queue, ofCohort.Cohort, alone.Queue = "n/one", "b", "other", "alone"
	ofCohort.OnlyYes = true                  // a no stands
	gone.Queue, gone.Cohort = "lost", "left" // a queue that is not in the state
	c.Doubts = []bridge.Doubt{ofQueue, all, one, gone, ofCohort, alone, all}
	for _, w := range []struct {
		id, queue string
		want      []string
	}{
		{"n/one", "c", []string{"all", "cohort", "one"}},
		{"n/two", "a", []string{"all", "gone", "queue"}},
		{"", "b", []string{"all", "gone", "queue"}},
		{"n/two", "alone", []string{"all", "alone"}},
		{"n/two", "lost", []string{"all", "gone"}},
		{"n/two", "root", []string{"all"}}, // a queue with the name of a cohort
		{"n/one", "", []string{"all", "one"}},
	} {
		if got := bridge.Texts(c.DoubtsOnNo(w.id, w.queue)); !slices.Equal(got, slices.DeleteFunc(slices.Clone(w.want), func(s string) bool { return s == "cohort" })) {
			t.Errorf("%s in %s, for a no: %v", w.id, w.queue, got)
		}
		if got := bridge.Texts(c.DoubtsOn(w.id, w.queue)); !slices.Equal(got, w.want) {
			t.Errorf("%s in %s: %v, want %v", w.id, w.queue, got, w.want)
		}
	}
}
