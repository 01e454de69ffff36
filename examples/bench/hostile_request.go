package main

import (
	"slices"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// shapesOfARequest are requests of many columns.
func shapesOfARequest() []shape {
	return []shape{
		{"wide-16x32x8", func(n int) asked { return wide{16, 32, 8}.of(n) }},
		{"wide-32x64x8", func(n int) asked { return wide{32, 64, 8}.of(n) }},
		{"wide-pinned", func(n int) asked { return wide{16, 32, 8}.of(n).with(pin) }},
		{"last-short", func(n int) asked { return lastShort(n) }},
		{"own-columns", func(n int) asked { return ownColumns(n) }},
		{"own-columns-short-of-one", func(n int) asked { return ownColumns(n).each(lastStays(n)) }},
	}
}

// wide is a request of pod sets without flavors, each of which asks for all resources.
type wide struct{ flavors, resources, podSets int }

const wideQueues = 100

// of returns queues that use a little more than their own, and all that there is: the request takes half of what its queue has in a
// flavor, and its queue uses nothing.
func (s wide) of(n int) *question {
	q := shared(wideQueues, n)
	nominal := int64(n / s.flavors * 32 / (wideQueues + 1))
	var quotas []quota.Quota
	used := make([][]quota.Amount, s.flavors)
	asks := workload.PodSet{Count: 1}
	for r := range s.resources {
		asks.Requests = append(asks.Requests, quota.Amount{Resource: numbered("r", r), Amount: max(1, nominal/2/int64(s.podSets))})
	}
	for f := range s.flavors {
		for r := range s.resources {
			quotas = append(quotas, quota.Quota{Flavor: numbered("f", f), Resource: numbered("r", r), Nominal: nominal})
			used[f] = append(used[f], quota.Amount{Flavor: numbered("f", f), Resource: numbered("r", r), Amount: 32})
		}
	}
	q.state.Cohorts[0].Quotas = nil
	q.queues(func(_ int, of *queue.Queue) {
		of.Quotas = quotas
		of.FlavorFungibility = queue.FlavorFungibility{WhenCanBorrow: queue.TryNextFlavor, WhenCanPreempt: queue.TryNextFlavor}
	})
	q.each(func(i int, w *workload.Workload) {
		w.Queue = numbered("q", 1+i/s.flavors%wideQueues)
		w.PodSets = []workload.PodSet{{Name: "main", Count: 1, Requests: used[i%s.flavors]}}
	})
	q.request.Workload.PodSets = nil
	for p := range s.podSets {
		asks.Name = numbered("p", p)
		q.request.Workload.PodSets = append(q.request.Workload.PodSets, asks)
	}
	return q
}

// pin gives all requests of the workload the first flavor.
func pin(q *question) {
	for i := range q.request.Workload.PodSets {
		s := &q.request.Workload.PodSets[i]
		s.Requests = slices.Clone(s.Requests)
		for r := range s.Requests {
			s.Requests[r].Flavor = numbered("f", 0)
		}
	}
}

// lastShort asks for 64 resources of which only the last is short. All workloads use all the others, one of a hundred the last.
func lastShort(n int) *question {
	const all = 64
	q := shared(n/100, n)
	quotas := make([]quota.Quota, all)
	amounts := make([]quota.Amount, all)
	for r := range all {
		quotas[r] = quota.Quota{Flavor: "f", Resource: numbered("r", r), Nominal: int64(2 * n)}
		amounts[r] = quota.Amount{Flavor: "f", Resource: numbered("r", r), Amount: 1}
	}
	quotas[all-1].Nominal = int64(n / 100)
	q.state.Cohorts[0].Quotas = quotas
	q.queues(func(_ int, of *queue.Queue) {
		of.Quotas = slices.Clone(quotas)
		for r := range of.Quotas {
			of.Quotas[r].Nominal = 0
		}
	})
	q.each(func(i int, w *workload.Workload) {
		w.PodSets[0].Requests = amounts[:all-1]
		if i%100 == 99 {
			w.PodSets[0].Requests = amounts
		}
	})
	asks := slices.Clone(amounts)
	asks[all-1].Amount = int64(n / 200)
	q.request.Workload.PodSets[0].Requests = asks
	return q
}

// ownColumns asks for 256 columns. Each workload uses one of them.
func ownColumns(n int) *question {
	const all = 256
	q := alone(n)
	var quotas []quota.Quota
	var asks []quota.Amount
	for c := range all {
		fr := quota.FlavorResource{Flavor: numbered("f", c/16), Resource: numbered("r", c%16)}
		quotas = append(quotas, quota.Quota{Flavor: fr.Flavor, Resource: fr.Resource, Nominal: int64(n / all)})
		asks = append(asks, quota.Amount{Flavor: fr.Flavor, Resource: fr.Resource, Amount: int64(max(1, n/all))})
	}
	q.state.Queues[0].Quotas = quotas
	q.request.Workload.PodSets[0].Requests = asks
	return q.each(func(i int, w *workload.Workload) {
		w.PodSets[0].Requests = []quota.Amount{asks[i%all]}
		w.PodSets[0].Requests[0].Amount = 1
	})
}
