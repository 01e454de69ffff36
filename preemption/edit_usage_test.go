package preemption_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

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
