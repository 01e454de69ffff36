package preemptiontest

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// RecordsWithoutFlavors generates valid states whose queues have several flavors, each
// with a valid request about it of which some or all is without flavor.
func RecordsWithoutFlavors() *rapid.Generator[preemption.Record] {
	return rapid.Custom(func(t *rapid.T) preemption.Record {
		st := states(manyFlavors).Draw(t, "state")
		r := Requests(st).Draw(t, "request")
		r.NeedsPreemption = nil
		r.Workload.NeverPreempts = chance(t, 1, 8)
		i := slices.IndexFunc(st.Queues, func(q queue.Queue) bool { return q.Name == r.Workload.Queue })
		r.Workload.PodSets = nil
		for _, name := range []string{"main", "second", "third"}[:pick(t, "pod sets", 1, 1, 2, 3)] {
			r.Workload.PodSets = append(r.Workload.PodSets, withoutFlavors(t, st, &st.Queues[i], name))
		}
		return preemption.Record{State: st, Request: &r}
	})
}

// withoutFlavors asks for some of the queue's resources, often a little more than what is
// available in some flavor. A pod set in eight has a flavor for everything.
func withoutFlavors(t *rapid.T, st preemption.State, q *queue.Queue, name string) workload.PodSet {
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		t.Fatalf("preemptiontest: generated a state that is not valid: %v", err)
	}
	rows, _ := s.QueueStatus(q.Name)
	p := workload.PodSet{Name: name, Count: pick[int64](t, "count", 1, 1, 1, 2)}
	pinned := chance(t, 1, 8)
	for _, e := range q.Quotas {
		asked := slices.ContainsFunc(p.Requests, func(a quota.Amount) bool { return a.Resource == e.Resource })
		if asked || chance(t, 1, 4) {
			continue
		}
		a := quota.Amount{Resource: e.Resource, Amount: pick[int64](t, "amount", 0, 1, 2, 3, 4)}
		if row := rapid.SampledFrom(rows).Draw(t, "row"); row.Resource == e.Resource && chance(t, 3, 4) {
			a.Amount = min(quota.Add(max(0, row.Available), pick[int64](t, "more", 1, 0, 2)), row.PotentialAvailable, 1000)
		}
		if pinned {
			a.Flavor = e.Flavor
		}
		p.Requests = append(p.Requests, a)
	}
	if chance(t, 1, 20) {
		p.Requests = append(p.Requests, quota.Amount{Resource: "tpu", Amount: pick[int64](t, "tpus", 0, 1)})
	}
	return p
}

func manyFlavors(t *rapid.T) []quota.FlavorResource {
	frs := []quota.FlavorResource{{Flavor: "reserved", Resource: "cpu"}, {Flavor: "spot", Resource: "cpu"}}
	if chance(t, 1, 2) {
		frs = append(frs, quota.FlavorResource{Flavor: "burst", Resource: "cpu"})
	}
	if chance(t, 1, 2) {
		frs = append(frs, quota.FlavorResource{Flavor: "reserved", Resource: "memory"}, quota.FlavorResource{Flavor: "spot", Resource: "memory"})
	}
	if chance(t, 1, 3) {
		frs = append(frs, quota.FlavorResource{Flavor: "a100", Resource: "gpu"}, quota.FlavorResource{Flavor: "h100", Resource: "gpu"})
	}
	return frs
}

func fungibility(t *rapid.T) queue.FlavorFungibility {
	policies := []queue.FungibilityPolicy{0, queue.MayStopSearch, queue.TryNextFlavor, queue.TryNextFlavor}
	f := queue.FlavorFungibility{
		WhenCanBorrow:  pick(t, "when can borrow", policies...),
		WhenCanPreempt: pick(t, "when can preempt", policies...),
	}
	if f.WhenCanBorrow == queue.TryNextFlavor && f.WhenCanPreempt == queue.TryNextFlavor && chance(t, 1, 2) {
		f.Preference = queue.PreemptionOverBorrowing
	}
	return f
}
