package preemption_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
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

// What is in use in a queue and no workload accounts for is reserved.
func TestSetUsageReservesTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st := preemptiontest.States().Draw(t, "state")
		q := rapid.SampledFrom(st.Queues).Draw(t, "queue")
		s := snapshotOf(t, st)
		byWorkloads := map[quota.FlavorResource]int64{}
		for _, w := range st.Admitted {
			for i := range w.PodSets {
				for _, a := range w.PodSets[i].Requests {
					if w.Queue == q.Name {
						byWorkloads[a.FlavorResource()] += w.PodSets[i].Total(a.Amount)
					}
				}
			}
		}
		var usage, want []quota.Amount
		for _, e := range q.Quotas {
			fr, n := e.FlavorResource(), rapid.Int64Range(0, 20).Draw(t, "in use")
			if rapid.Bool().Draw(t, "as workloads use") {
				n = byWorkloads[fr]
			}
			usage = append(usage, quota.Amount{Flavor: fr.Flavor, Resource: fr.Resource, Amount: n})
			if rest := n - byWorkloads[fr]; rest > 0 {
				want = append(want, quota.Amount{Flavor: fr.Flavor, Resource: fr.Resource, Amount: rest})
			}
		}
		slices.SortFunc(want, func(a, b quota.Amount) int { return a.FlavorResource().Compare(b.FlavorResource()) })
		next := edit(t, s, preemption.SetUsage(q.Name, usage))
		rand.Shuffle(len(usage), reflect.Swapper(usage)) // the order of the usage has no meaning
		for _, next := range []*preemption.Snapshot{next, edit(t, next, preemption.SetUsage(q.Name, usage))} {
			changed := q
			changed.Reserved = want
			if !reflect.DeepEqual(next.State(), edit(t, s, preemption.SetQueue(changed)).State()) {
				t.Fatalf("usage %v: reserved %v, want %v", usage, queueOf(next.State(), q.Name).Reserved, want)
			}
		}
	})
}

// Usage goes with the edits around it, in order.
func TestSetUsageInOrder(t *testing.T) {
	gpus := func(n int64) []quota.Amount { return []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: n}} }
	s := snapshotOf(t, preemption.State{Queues: []queue.Queue{{Name: "a"}}})
	s = edit(t, s, preemption.SetQueue(queue.Queue{Name: "b", Reserved: gpus(9)}), preemption.SetUsage("b", gpus(3)), preemption.SetUsage("a", gpus(2)))
	reserved := func(of string) []quota.Amount { return queueOf(s.State(), of).Reserved }
	if !slices.Equal(reserved("a"), gpus(2)) || !slices.Equal(reserved("b"), gpus(3)) {
		t.Errorf("reserved %v and %v", reserved("a"), reserved("b"))
	}
	s = edit(t, s, preemption.RemoveQueue("a"), preemption.SetUsage("b", nil))
	if reserved("b") != nil {
		t.Errorf("reserved %v", reserved("b"))
	}
	_, err := s.With(preemption.RemoveQueue("b"), preemption.SetUsage("b", nil), preemption.SetUsage("a", gpus(1)))
	wantFaults(t, err, `edits[1]: no queue "b"`, `edits[2]: no queue "a"`)
	_, err = s.With(preemption.SetUsage("b", append(gpus(-1), quota.Amount{Flavor: "f", Resource: "gpu"})), preemption.SetUsage("c", gpus(-1)))
	wantFaults(t, err, `edits[0].usage[1]: f/gpu has an entry already, usage[0] (queue "b")`,
		`edits[0].usage[0].amount: -1 is not within 0 and 4611686018427387904 (queue "b")`, `edits[1]: no queue "c"`)
}
