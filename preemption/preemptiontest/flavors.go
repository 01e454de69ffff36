package preemptiontest

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// RecordsWithoutFlavors generates valid states whose queues have several flavors, each with a
// valid request in which some or all requests have no flavor. Most have a purpose, as those
// of [Records].
func RecordsWithoutFlavors() *rapid.Generator[preemption.Record] {
	return rapid.Custom(func(t *rapid.T) preemption.Record {
		record := drawRecord(t, manyFlavors)
		w := &record.Request.Workload
		first := pick(t, "first pod set", oneForEach, oneForEach, oneForEach, withoutFlavors)
		i := slices.IndexFunc(record.State.Queues, func(q queue.Queue) bool { return q.Name == w.Queue })
		q := &record.State.Queues[i]
		rows, _ := snapshot(t, record.State).QueueStatus(q.Name)
		asked := w.PodSets[0]
		w.PodSets = nil
		number := pick(t, "pod sets", 1, 1, 1, 1, 2, 3)
		for j, name := range []string{"main", "second", "third"}[:number] {
			p := workload.PodSet{Name: name, Count: pick[int64](t, "count", 1, 1, 1, 2)}
			if j > 0 {
				first = withoutFlavors
			}
			first(t, rows, q, asked, &p)
			for k := range p.Requests {
				if a := &p.Requests[k]; number > 1 && !chance(t, 1, 4) {
					a.Amount = min(a.Amount, most(rows, *a)/int64(number)/p.Count)
				}
			}
			w.PodSets = append(w.PodSets, p)
		}
		eligibility(t, &record)
		return record
	})
}

// oneForEach requests as much of each resource as a pod set does in one of its flavors.
func oneForEach(t *rapid.T, _ []preemption.QuotaStatus, q *queue.Queue, asked workload.PodSet, p *workload.PodSet) {
	p.Count = asked.Count
	pinned := chance(t, 1, 8)
	for _, a := range asked.Requests {
		has := slices.ContainsFunc(q.Quotas, func(e quota.Quota) bool { return e.FlavorResource() == a.FlavorResource() })
		if again := slices.ContainsFunc(p.Requests, func(b quota.Amount) bool { return a.Resource == b.Resource }); again || !has {
			continue
		}
		if !pinned {
			a.Flavor = ""
		}
		p.Requests = append(p.Requests, a)
	}
}

// withoutFlavors requests some of the queue's resources, often a little more than what is
// available in some flavor. One pod set in eight has a flavor for everything.
func withoutFlavors(t *rapid.T, rows []preemption.QuotaStatus, q *queue.Queue, _ workload.PodSet, p *workload.PodSet) {
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
		if !chance(t, 1, 40) {
			a.Amount = min(a.Amount, most(rows, a)/p.Count)
		}
		p.Requests = append(p.Requests, a)
	}
	if chance(t, 1, 60) {
		p.Requests = append(p.Requests, quota.Amount{Resource: "tpu", Amount: pick[int64](t, "tpus", 0, 1)})
	}
}

// most returns the most that could be used of a resource, in its flavor or in any flavor.
func most(rows []preemption.QuotaStatus, a quota.Amount) (amount int64) {
	for _, row := range rows {
		if row.Resource == a.Resource && (a.Flavor == "" || a.Flavor == row.Flavor) {
			amount = max(amount, row.PotentialAvailable)
		}
	}
	return amount
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
