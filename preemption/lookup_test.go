package preemption_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// What is walked is what the snapshot was made of, in order, in copies that are the caller's.
func TestWalks(t *testing.T) { rapid.Check(t, walksAreTheState) }

func walksAreTheState(t *rapid.T) {
	st := preemptiontest.States().Draw(t, "state")
	s := snapshotOf(t, st)
	slices.SortFunc(st.Cohorts, func(a, b queue.Cohort) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(st.Queues, func(a, b queue.Queue) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(st.Admitted, func(a, b workload.Workload) int { return strings.Compare(a.ID, b.ID) })
	for range 2 { // the second time after the caller spoilt the copies of the first
		walked := preemption.State{
			Cohorts: slices.Collect(s.Cohorts()), Queues: slices.Collect(s.Queues()),
			Flavors: st.Flavors, Admitted: slices.Collect(s.Workloads()),
		}
		noDiff(t, "", st, walked, sameValues)
		for _, co := range walked.Cohorts {
			for i := range co.Quotas {
				co.Quotas[i].Nominal = -1
			}
		}
		for _, q := range walked.Queues {
			for i := range q.Quotas {
				q.Quotas[i].Nominal = -1
			}
		}
		for _, w := range walked.Admitted {
			for i := range w.PodSets {
				w.PodSets[i].Count = -1
				for j := range w.PodSets[i].Requests {
					w.PodSets[i].Requests[j].Amount = -1
				}
			}
		}
	}
}

// The zero snapshot and nil have nothing to walk.
func TestWalksOfNothing(t *testing.T) {
	for _, s := range []*preemption.Snapshot{nil, {}} {
		for co := range s.Cohorts() {
			t.Error(co)
		}
		for q := range s.Queues() {
			t.Error(q)
		}
		for w := range s.Workloads() {
			t.Error(w)
		}
	}
}

// A loop that breaks copies what it saw: a thousand workloads cost it as many allocations as
// three.
func TestWalkThatBreaksCopiesOne(t *testing.T) {
	first := func(workloads int) float64 {
		w := scenario.Worlds[0]
		st := w.State()
		st.Admitted = st.Admitted[:workloads]
		s := snapshotOf(t, st)
		return testing.AllocsPerRun(20, func() {
			for range s.Workloads() {
				break
			}
			for range s.Queues() {
				break
			}
			for range s.Cohorts() {
				break
			}
		})
	}
	if few, many := first(3), first(1000); many != few {
		t.Errorf("%v allocations with 3 workloads, %v with 1000", few, many)
	}
}

// The numbers of a cohort are those of all its queues.
func TestCohortStatus(t *testing.T) {
	s := snapshotOf(t, preemption.State{
		Cohorts:  []queue.Cohort{{Name: "root"}, {Name: "left", Parent: "root"}},
		Queues:   []queue.Queue{{Name: "a", Cohort: "left", Quotas: gpus(4)}, {Name: "b", Cohort: "left", Quotas: gpus(2)}, {Name: "c", Cohort: "root", Quotas: gpus(3)}},
		Admitted: []workload.Workload{job("x", "a", 0, 5, started(1)), job("y", "b", 0, 1, started(1))},
	})
	rows, ok := s.CohortStatus("left")
	if !ok || len(rows) != 1 || rows[0].Usage != 6 || rows[0].Nominal != 0 || rows[0].Flavor != "h100" || rows[0].Resource != "gpu" {
		t.Errorf("left: %+v, %t", rows, ok)
	}
	if rows, ok := s.CohortStatus("nowhere"); ok || rows != nil {
		t.Errorf("nowhere: %+v", rows)
	}
}
