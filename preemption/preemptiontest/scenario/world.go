// Package scenario builds clusters of any size as functions of an index, without random numbers,
// and asks requests with known answers about them. Kueue was measured on the same worlds, so that
// answers and costs can be compared.
//
//	for _, s := range world.Scenarios() {
//		source, err := s.Check(mode, snapshot, decide, decision) // nil: right, by what source says
//	}
//
// Requests are for one flavor, "default", with cpu and memory. Every queue runs the same amount,
// and nothing is free: the borrowers use what the lenders do not. A [World] is a shape: its zero
// value has no queues. Check fails with what is wrong with an answer. The answers are Kueue's
// where it was asked, else follow from how the world is made ([Source]).
package scenario

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// World is the measure of a cluster.
type World struct {
	ID string
	// Queues in groups of Group: a cohort, or in a tree a leaf cohort.
	Queues, Group int
	// Each is how many workloads run in a queue.
	Each int
	// Leaves is how many leaf cohorts are under a cohort in the middle, of which all
	// are under one root. Zero: cohorts are flat.
	Leaves int
	// Levels is how many priorities there are, from zero up. Zero: four, 0 to 300.
	Levels int
	// Flavors is how many other flavors each queue has, all in use, by Each workloads
	// of a flavor. These have the lowest priority, so that they come first in every
	// order, and make no room for a request of the flavor "default".
	Flavors int
	// Guarantee is the minimum runtime of every queue: half of the workloads have run
	// for less. It is also the minAdmitDuration of the queues of role 2.
	Guarantee time.Duration
}

// Worlds are the worlds that Kueue was timed on.
var Worlds = []World{
	{ID: "f1-1k-10-1", Queues: 10, Group: 10, Each: 100},
	{ID: "f2-10k-100-10", Queues: 100, Group: 10, Each: 100},
	{ID: "f3-50k-1000-10", Queues: 1000, Group: 100, Each: 50},
	{ID: "f4-100k-100-10", Queues: 100, Group: 10, Each: 1000},
	{ID: "f5-100k-100-1", Queues: 100, Group: 100, Each: 1000},
	{ID: "t1-10k-100-tree", Queues: 100, Group: 5, Each: 100, Leaves: 4},
	{ID: "t2-50k-1000-tree", Queues: 1000, Group: 10, Each: 50, Leaves: 10},
}

// Large are larger worlds by the same formulas: ten times f5 beside each other, a hundred times f2, all
// queues in one cohort, all queues in one tree.
var Large = []World{
	{ID: "f6-1m-10000-1000", Queues: 10_000, Group: 10, Each: 100},
	{ID: "f7-1m-1000-10", Queues: 1000, Group: 100, Each: 1000},
	{ID: "f8-1m-1000-1", Queues: 1000, Group: 1000, Each: 1000},
	{ID: "t3-1m-10000-tree", Queues: 10_000, Group: 10, Each: 100, Leaves: 10},
}

// Hard are worlds in which something else than size may cost: a thousand priorities; nine other flavors, each
// with 10,000 workloads that come before the workloads of the requested flavor; half of all workloads
// protected by a minimum runtime.
var Hard = []World{
	{ID: "priorities-100k-10-1", Queues: 10, Group: 10, Each: 10_000, Levels: 1000},
	{ID: "flavors-500k-5-1", Queues: 5, Group: 5, Each: 10_000, Flavors: 9},
	{ID: "protected-100k-100-1", Queues: 100, Group: 100, Each: 1000, Guarantee: time.Hour},
}

// Workloads returns how many workloads run.
func (w World) Workloads() int { return w.Queues * w.Each * (1 + w.Flavors) }

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Now is the time of the requests.
var Now = start.Add(72 * time.Hour)

// Size is an amount of both resources: milli-CPU and bytes.
type Size struct{ CPU, Memory int64 }

func (s Size) plus(t Size) Size       { return Size{s.CPU + t.CPU, s.Memory + t.Memory} }
func (s Size) minus(t Size) Size      { return Size{s.CPU - t.CPU, s.Memory - t.Memory} }
func (s Size) times(n, by int64) Size { return Size{s.CPU * n / by, s.Memory * n / by} }

func (s Size) covers(t Size) bool { return s.CPU >= t.CPU && s.Memory >= t.Memory }

const flavor = "default"

func (s Size) quotas(flavor string) []quota.Quota {
	return []quota.Quota{
		{Flavor: flavor, Resource: "cpu", Nominal: s.CPU},
		{Flavor: flavor, Resource: "memory", Nominal: s.Memory},
	}
}

func (s Size) podSets(flavor string) []workload.PodSet {
	return []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{
		{Flavor: flavor, Resource: "cpu", Amount: s.CPU},
		{Flavor: flavor, Resource: "memory", Amount: s.Memory},
	}}}
}

// sizeOf is the size of workload j of any queue.
func sizeOf(j int) Size { return Size{500 * int64(1+j%3), 1 << 28 * int64(1+j/4%4)} }

// each is what one queue uses.
func (w World) each() Size {
	var total Size
	for j := range w.Each {
		total = total.plus(sizeOf(j))
	}
	return total
}

// role is the purpose of a queue: 0 lends; 1 is full and in no cohort; 2 is full; 3 is full
// and may preempt while borrowing; 4 borrows.
func (w World) role(q int) int {
	if w.Leaves == 0 {
		q %= w.Group
	}
	return min(q, 4)
}

// borrowed is what a queue uses over its nominal quota.
func (w World) borrowed(q int) Size {
	if w.role(q) != 4 {
		return Size{}
	}
	return w.each().times(int64(1+q%3), 8).plus(Size{int64(q), 1024 * int64(q)})
}

func (w World) nominal(q int) Size {
	switch w.role(q) {
	case 0:
		if w.Leaves > 0 {
			return w.each().plus(w.each().times(20, int64(w.Each)))
		}
		lent := w.each()
		for member := q; member < q+w.Group; member++ {
			lent = lent.plus(w.borrowed(member))
		}
		return lent
	case 4:
		return w.each().minus(w.borrowed(q))
	}
	return w.each()
}

func (w World) cohort(q int) string {
	g := q / w.Group
	if w.Leaves == 0 {
		return fmt.Sprintf("cohort-%03d", g)
	}
	return fmt.Sprintf("leaf-%02d-%02d", g/w.Leaves, g%w.Leaves)
}

// priority is that of workload j of any queue.
func (w World) priority(j int) int64 {
	if w.Levels > 0 {
		return int64(j % w.Levels)
	}
	return int64(100 * (j % 4))
}

// reserved is when workload i got its quota: no two neighbours got it in the same second. Under a guarantee
// every other group of sixteen workloads of a queue has run for less than the guarantee.
func (w World) reserved(i int) time.Time {
	if w.Guarantee == 0 {
		return start.Add(time.Hour + time.Duration(int64(i)*7919%100003)*time.Second)
	}
	if w.protected(i) {
		return Now.Add(-time.Duration(int64(i)*7919%3571) * time.Second)
	}
	return Now.Add(-w.Guarantee - time.Duration(1+int64(i)*7919%100003)*time.Second)
}

func (w World) protected(i int) bool { return w.Guarantee > 0 && i%w.Each/16%2 == 0 }

func nameOfQueue(q int) string { return fmt.Sprintf("cq-%04d", q) }

func idOf(i int) string { return fmt.Sprintf("bench/wl-%06d", i) }

// State builds the world. Workload i = q*Each + j is number j of queue q.
func (w World) State() preemption.State {
	st := preemption.State{Cohorts: w.cohorts(), Admitted: make([]workload.Workload, 0, w.Workloads())}
	for q := range w.Queues {
		st.Queues = append(st.Queues, w.queue(q))
		for j := range w.Each {
			i := q*w.Each + j
			queued := start.Add(time.Duration(i/2) * time.Second)
			st.Admitted = append(st.Admitted, workload.Workload{
				ID: idOf(i), UID: fmt.Sprintf("uid-%06d", i), Queue: nameOfQueue(q),
				Priority: w.priority(j), Created: queued, Queued: queued,
				ReservedAt: w.reserved(i), PodSets: sizeOf(j).podSets(flavor),
			})
		}
		for f := range w.Flavors {
			for j := range w.Each {
				i := q*w.Each + j
				st.Admitted = append(st.Admitted, workload.Workload{
					ID: fmt.Sprintf("bench/other-%d-%06d", f, i), Queue: nameOfQueue(q), Priority: -100,
					Created: start, Queued: start, ReservedAt: w.reserved(i), PodSets: sizeOf(j).podSets(other(f)),
				})
			}
		}
	}
	return st
}

func other(f int) string { return fmt.Sprintf("other-%d", f) }

func (w World) queue(q int) queue.Queue {
	made := queue.Queue{
		Name: nameOfQueue(q), Cohort: w.cohort(q), Quotas: w.nominal(q).quotas(flavor), Preemption: policies[w.role(q)],
	}
	for f := range w.Flavors {
		made.Quotas = append(made.Quotas, w.each().quotas(other(f))...)
	}
	if w.Guarantee > 0 {
		made.MinRuntime.Preempt, made.MinRuntime.Reclaim = quota.Some(w.Guarantee), quota.Some(w.Guarantee)
		if w.role(q) == 2 {
			made.Preemption.WithinClusterQueue = queue.LowerOrNewerEqualPriority
			made.Preemption.MinAdmitDuration = quota.Some(w.Guarantee)
		}
	}
	return made
}

func (w World) cohorts() []queue.Cohort {
	var list []queue.Cohort
	groups := w.Queues / w.Group
	if w.Leaves == 0 {
		for g := range groups {
			list = append(list, queue.Cohort{Name: w.cohort(g * w.Group)})
		}
		return list
	}
	var lent Size
	for q := range w.Queues {
		lent = lent.plus(w.borrowed(q))
	}
	leaf := w.each().times(200, int64(w.Each))
	middle := lent.minus(w.each().times(20, int64(w.Each))).minus(leaf)
	list = append(list, queue.Cohort{Name: "root"})
	for g := range groups {
		parent := fmt.Sprintf("mid-%02d", g/w.Leaves)
		if g%w.Leaves == 0 {
			list = append(list, queue.Cohort{Name: parent, Parent: "root"})
		}
		list = append(list, queue.Cohort{Name: w.cohort(g * w.Group), Parent: parent})
	}
	for i := range list {
		switch list[i].Name {
		case "mid-00":
			list[i].Quotas = middle.quotas(flavor)
		case "leaf-00-00":
			list[i].Quotas = leaf.quotas(flavor)
		}
	}
	return list
}

var policies = [...]queue.PreemptionPolicy{
	0: {ReclaimWithinCohort: queue.LowerPriority},
	1: {WithinClusterQueue: queue.LowerPriority},
	2: {WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.LowerPriority},
	3: {
		WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.LowerPriority,
		BorrowWithinCohort: queue.BorrowWithinCohort{Policy: queue.LowerPriority, MaxPriorityThreshold: queue.AtMostPriority(100)},
	},
	4: {WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any},
}
