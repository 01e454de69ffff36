// Package preemptiontest generates states and requests for property tests of this library and of
// schedulers that use it, and checks the laws of what callers plug into it. It is for tests:
// unlike the library it imports pgregory.net/rapid.
//
// A scheduler of your own is judged on generated clusters with one call, which needs no test
// framework:
//
//	err := preemptiontest.TestDecider(preemption.Config{}, decide, 1000)
//
// Guards, rooms, costs, filters and placers have laws (CheckGuard, CheckRoom, ...), checked in a
// property:
//
//	rapid.Check(t, func(t *rapid.T) { preemptiontest.CheckGuard(t, pinned{}) })
//
// Most records have a purpose: preemption in the own queue, in the cohort, in a higher cohort, by
// time, of surplus replicas, behind a closed gate, or a wait. The generators are weighted to
// edges: full quotas, limits of zero, equal priorities and timestamps, missing reservations, zero
// amounts, evicted workloads, over-admitted queues, both ends of the priorities, huge amounts. All
// that they return is valid.
//
// TestDecider returns the errors of the scheduler and the faults that verify.Decision finds,
// joined; the Check functions fail the test. The zero value of each type here is ready.
//
// The laws are those that the documentation of the interfaces states (preemption.Guard,
// preemption.Room, placement.Filter, ...).
package preemptiontest

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Now is the time of the generated requests.
var Now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// Records generates valid states, each with a valid request about it. Most have a purpose;
// see the comment of the package.
func Records() *rapid.Generator[preemption.Record] {
	return rapid.Custom(func(t *rapid.T) preemption.Record {
		record := drawRecord(t, flavorResources)
		if w := &record.Request.Workload; chance(t, 1, 6) {
			for _, a := range w.Usage() {
				if chance(t, 9, 10) {
					record.Request.NeedsPreemption = append(record.Request.NeedsPreemption, a.FlavorResource())
				}
			}
		}
		moveToEdges(t, &record)
		return record
	})
}

// States generates valid states: up to five cohorts in a tree, one to six queues,
// up to sixteen workloads.
func States() *rapid.Generator[preemption.State] {
	return rapid.Custom(func(t *rapid.T) preemption.State {
		st := tree(t, flavorResources(t))
		run(t, &st, pick(t, "workloads", 0, 3, 6, 8, 10, 12, 14, 16))
		return st
	})
}

// tree draws cohorts and queues in which nothing runs.
func tree(t *rapid.T, frs []quota.FlavorResource) preemption.State {
	var st preemption.State
	for i := range pick(t, "cohorts", 0, 1, 1, 2, 3, 4, 5) {
		c := queue.Cohort{Name: fmt.Sprintf("c%d", i)}
		if i > 0 && chance(t, 3, 4) {
			c.Parent = fmt.Sprintf("c%d", rapid.IntRange(0, i-1).Draw(t, "parent"))
		}
		if chance(t, 1, 3) {
			c.Quotas = quotas(t, frs, c.Parent != "", false)
		}
		c.FairWeight, c.MinRuntime, c.Reserved = weight(t), minRuntime(t), reserved(t, frs)
		st.Cohorts = append(st.Cohorts, c)
	}
	for i := range pick(t, "queues", 1, 2, 3, 3, 4, 5, 6) {
		q := queue.Queue{Name: fmt.Sprintf("q%d", i), Preemption: preemptionOf(t), FlavorFungibility: fungibility(t)}
		if len(st.Cohorts) > 0 && chance(t, 9, 10) {
			q.Cohort = rapid.SampledFrom(st.Cohorts).Draw(t, "cohort").Name
		}
		q.Quotas = quotas(t, frs, q.Cohort != "", true)
		q.FairWeight, q.MinRuntime, q.Reserved = weight(t), minRuntime(t), reserved(t, frs)
		q.Inactive = chance(t, 1, 50)
		st.Queues = append(st.Queues, q)
	}
	return st
}

// reserved draws what no workload accounts for: most often nothing.
func reserved(t *rapid.T, frs []quota.FlavorResource) (list []quota.Amount) {
	if !chance(t, 1, 10) {
		return nil
	}
	for _, fr := range frs {
		if chance(t, 2, 3) {
			list = append(list, quota.Amount{Flavor: fr.Flavor, Resource: fr.Resource, Amount: pick[int64](t, "reserved", 1, 0, 2, 3)})
		}
	}
	return list
}

// run admits a number of workloads in any queues.
func run(t *rapid.T, st *preemption.State, number int) {
	for i := range number {
		w := Workload(*st, fmt.Sprintf("ns/w%02d", i)).Draw(t, "workload")
		w.Evicted = chance(t, 1, 12)
		w.NeverYields = chance(t, 1, 40)
		leave(t, &w)
		if chance(t, 9, 10) {
			w.ReservedAt = instant(t, "reserved")
		}
		st.Admitted = append(st.Admitted, w)
	}
}

// leave lets some replicas of elastic pod sets leave: most often none.
func leave(t *rapid.T, w *workload.Workload) {
	for i := range w.PodSets {
		p := &w.PodSets[i]
		if _, elastic := p.MinCount.Get(); elastic && chance(t, 1, 4) {
			p.Terminating = rapid.Int64Range(0, p.Count).Draw(t, "leaving")
		}
	}
}

// Configs generates valid configurations.
func Configs() *rapid.Generator[preemption.Config] {
	return rapid.Custom(func(t *rapid.T) preemption.Config {
		of := minRuntime(t)
		c := preemption.Config{
			MinRuntime: minruntime.Defaults{Preempt: of.Preempt, Reclaim: of.Reclaim, Method: pick(t, "method", minruntime.LCA, minruntime.Queue)},
			Guards:     guards(t),
			Compat:     preemption.Compat{PreemptWithinNominal: chance(t, 1, 5)},
		}
		if chance(t, 1, 2) {
			share(t, &c)
		}
		return c
	})
}

// share draws a way of fair sharing.
func share(t *rapid.T, c *preemption.Config) {
	final, initial := preemption.LessThanOrEqualToFinalShare, preemption.LessThanInitialShare
	if c.Sharing = preemption.Fair; chance(t, 1, 4) {
		c.Sharing, c.Strategies = preemption.Stable, pick(t, "strategies", nil, []preemption.FairStrategy{final}, []preemption.FairStrategy{initial})
		return
	}
	c.Strategies = pick(t, "strategies", nil, []preemption.FairStrategy{final, initial}, []preemption.FairStrategy{final}, []preemption.FairStrategy{initial})
	c.Compat.Kueue016 = chance(t, 1, 4)
}

func weight(t *rapid.T) quota.OptionalFloat64 {
	return pick(t, "weight", quota.OptionalFloat64{}, quota.OptionalFloat64{}, quota.WeightOf(0), quota.WeightOf(0.5), quota.WeightOf(1), quota.WeightOf(3))
}

// Requests generates valid requests about a state. About one in thirty is for more than could
// ever be available.
func Requests(st preemption.State) *rapid.Generator[preemption.Request] {
	return rapid.Custom(func(t *rapid.T) preemption.Request {
		s := snapshot(t, st)
		r := preemption.Request{Workload: Workload(st, "ns/pending").Draw(t, "pending"), Now: Now}
		r.Workload.Priority += pick[int64](t, "more important by", 0, 1, 2, 3)
		r.Workload.UID = "u-pending"
		rows, _ := s.QueueStatus(r.Workload.Queue)
		if chance(t, 5, 6) {
			askForMore(t, rows, &r.Workload)
		}
		if !chance(t, 1, 30) {
			askForNoMoreThanCanBe(rows, &r.Workload)
		}
		r.Workload.NeverPreempts = chance(t, 1, 20)
		r.Workload.Gates = gates(t)
		return r
	})
}

// askForMore makes the request a little more than what is available and no more than could
// ever be available: preemption decides there.
func askForMore(t *rapid.T, rows []preemption.QuotaStatus, w *workload.Workload) {
	w.PodSets = w.PodSets[:1]
	w.PodSets[0].Count = 1
	for i := range w.PodSets[0].Requests {
		a := &w.PodSets[0].Requests[i]
		for _, row := range rows {
			if row.FlavorResource == a.FlavorResource() && row.Available < row.PotentialAvailable {
				a.Amount = min(max(0, row.Available)+pick[int64](t, "more", 1, 2, 3), row.PotentialAvailable, 1000)
			}
		}
	}
}

// askForNoMoreThanCanBe lowers amounts to what could ever be available.
func askForNoMoreThanCanBe(rows []preemption.QuotaStatus, w *workload.Workload) {
	for _, total := range w.Usage() {
		most := int64(0)
		for _, row := range rows {
			if row.FlavorResource == total.FlavorResource() {
				most = row.PotentialAvailable
			}
		}
		for i := range w.PodSets {
			p := &w.PodSets[i]
			for j := range p.Requests {
				if a := &p.Requests[j]; total.Amount > most && a.FlavorResource() == total.FlavorResource() {
					a.Amount = min(a.Amount, most/int64(len(w.PodSets))/max(1, p.Count))
				}
			}
		}
	}
}

func snapshot(t *rapid.T, st preemption.State) *preemption.Snapshot {
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		t.Fatalf("preemptiontest: generated a state that is not valid: %v", err)
	}
	return s
}

// gates mostly draws none, else one that is closed or open.
func gates(t *rapid.T) (g gate.Gates) {
	if chance(t, 1, 6) {
		g.Names = []string{gate.ConcurrentAdmission}
		if chance(t, 1, 6) {
			g = g.Opened(gate.ConcurrentAdmission, Now)
		}
	}
	return g
}

// Workload generates a workload with the given ID in one of the state's queues, without a
// reservation.
func Workload(st preemption.State, id string) *rapid.Generator[workload.Workload] {
	return rapid.Custom(func(t *rapid.T) workload.Workload {
		q := rapid.SampledFrom(st.Queues).Draw(t, "queue")
		w := workload.Workload{
			ID: id, UID: fmt.Sprintf("u%d", rapid.IntRange(0, 3).Draw(t, "uid")), Queue: q.Name,
			Priority: pick[int64](t, "priority", -1, 0, 0, 1, 2),
			Created:  instantOrNone(t, "created"), Queued: instantOrNone(t, "queued"),
		}
		if chance(t, 1, 8) {
			w.PriorityBoost = rapid.Int64Range(-1, 1).Draw(t, "boost")
		}
		p := workload.PodSet{Name: "main", Count: pick[int64](t, "count", 1, 1, 2)}
		for _, e := range q.Quotas {
			if chance(t, 3, 4) {
				p.Requests = append(p.Requests, quota.Amount{
					Flavor: e.Flavor, Resource: e.Resource, Amount: pick[int64](t, "amount", 0, 1, 2, 3, 4),
				})
			}
		}
		if chance(t, 1, 12) {
			p.Requests = append(p.Requests, quota.Amount{Flavor: "other", Resource: "cpu", Amount: 1})
		}
		w.PodSets = []workload.PodSet{p}
		if chance(t, 1, 3) {
			w.PodSets[0].MinCount = workload.AtLeast(pick[int64](t, "min count", 0, 1, 2))
			w.PodSets[0].Count = pick[int64](t, "elastic count", 1, 2, 3)
		}
		if chance(t, 1, 6) {
			second := w.PodSets[0]
			second.Name = "second"
			second.Requests = slices.Clone(second.Requests)
			second.MinCount = workload.AtLeast(pick[int64](t, "second min count", 0, 1))
			w.PodSets = append(w.PodSets, second)
		}
		return w
	})
}

func flavorResources(t *rapid.T) []quota.FlavorResource {
	frs := []quota.FlavorResource{{Flavor: "default", Resource: "cpu"}}
	if chance(t, 1, 2) {
		frs = append(frs, quota.FlavorResource{Flavor: "default", Resource: "gpu"})
	}
	if chance(t, 1, 3) {
		frs = append(frs, quota.FlavorResource{Flavor: "spot", Resource: "cpu"})
	}
	return frs
}

func quotas(t *rapid.T, frs []quota.FlavorResource, hasParent, isQueue bool) []quota.Quota {
	var out []quota.Quota
	for _, fr := range frs {
		if chance(t, 1, 10) {
			continue
		}
		q := quota.Quota{Flavor: fr.Flavor, Resource: fr.Resource, Nominal: pick[int64](t, "nominal", 0, 1, 2, 4, 6, 8)}
		if chance(t, 1, 40) {
			q.Nominal = quota.Unlimited
		}
		if hasParent && chance(t, 1, 3) {
			q.BorrowingLimit = quota.AtMost(pick[int64](t, "borrowing limit", 0, 1, 2, 4, 6))
		}
		if hasParent && chance(t, 1, 3) {
			limit := pick[int64](t, "lending limit", 0, 1, 2, 4, 8)
			if isQueue {
				limit = min(limit, q.Nominal)
			}
			q.LendingLimit = quota.AtMost(limit)
		}
		out = append(out, q)
	}
	return out
}

func minRuntime(t *rapid.T) (s minruntime.Settings) {
	if chance(t, 1, 6) {
		s.Preempt = quota.Some(pick[time.Duration](t, "preempt", 0, 10, 20, 35) * time.Minute)
	}
	if chance(t, 1, 6) {
		s.Reclaim = quota.Some(pick[time.Duration](t, "reclaim", 0, 10, 20, 35) * time.Minute)
	}
	return s
}

func preemptionOf(t *rapid.T) queue.PreemptionPolicy {
	p := queue.PreemptionPolicy{
		WithinClusterQueue: rapid.SampledFrom([]queue.VictimPolicy{
			queue.LowerPriority, queue.LowerOrNewerEqualPriority, queue.LowerOrNewerEqualPriority, queue.Never,
		}).Draw(t, "within"),
		ReclaimWithinCohort: rapid.SampledFrom([]queue.VictimPolicy{
			queue.Any, queue.LowerPriority, queue.LowerPriority, queue.Never,
		}).Draw(t, "reclaim"),
	}
	if p.WithinClusterQueue == queue.LowerOrNewerEqualPriority && chance(t, 2, 3) {
		minutes := pick[time.Duration](t, "min admit duration", 10, 1, 20, 30) // at a threshold often
		p.MinAdmitDuration = quota.Some(minutes * time.Minute)
	}
	if p.ReclaimWithinCohort != queue.Never && chance(t, 1, 2) {
		p.BorrowWithinCohort.Policy = queue.LowerPriority
		if chance(t, 1, 2) {
			p.BorrowWithinCohort.MaxPriorityThreshold = queue.AtMostPriority(rapid.Int64Range(-2, 1).Draw(t, "threshold"))
		}
	}
	return p
}

// instant draws from a few times, so that ties are common; one is after Now.
func instant(t *rapid.T, label string) time.Time {
	return Now.Add(time.Duration(pick(t, label, -4, -3, -2, -1, 0, 1)) * 10 * time.Minute)
}

// instantOrNone mostly draws an instant, else the zero time: not known.
func instantOrNone(t *rapid.T, label string) time.Time {
	if chance(t, 1, 16) {
		return time.Time{}
	}
	return instant(t, label)
}

// pick draws each value with the same probability; it shrinks to the first.
func pick[T any](t *rapid.T, label string, from ...T) T {
	return rapid.SampledFrom(from).Draw(t, label)
}

// chance is true n times out of `of`; it shrinks to false.
func chance(t *rapid.T, n, of int) bool {
	bits := make([]bool, of)
	for i := range n {
		bits[of-1-i] = true
	}
	return pick(t, "chance", bits...)
}
