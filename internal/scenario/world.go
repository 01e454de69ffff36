// Package scenario builds clusters of any size as functions of an index: the worlds on
// which Kueue was timed, so that answers and costs can be laid side by side. There is
// no random number in it.
//
// One flavor, "default", with cpu and memory. Every queue runs as much as every other,
// and nothing is free: what the borrowers are short of, the lenders have too much.
package scenario

import (
	"cmp"
	"fmt"
	"slices"
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
}

// Worlds are those that Kueue was timed on.
var Worlds = []World{
	{"f1-1k-10-1", 10, 10, 100, 0},
	{"f2-10k-100-10", 100, 10, 100, 0},
	{"f3-50k-1000-10", 1000, 100, 50, 0},
	{"f4-100k-100-10", 100, 10, 1000, 0},
	{"f5-100k-100-1", 100, 100, 1000, 0},
	{"t1-10k-100-tree", 100, 5, 100, 4},
	{"t2-50k-1000-tree", 1000, 10, 50, 10},
}

// Workloads returns how many run in all.
func (w World) Workloads() int { return w.Queues * w.Each }

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Now is the time of the requests.
var Now = start.Add(72 * time.Hour)

// Size is an amount of both resources: milli-CPU and bytes.
type Size struct{ CPU, Memory int64 }

func (s Size) plus(t Size) Size       { return Size{s.CPU + t.CPU, s.Memory + t.Memory} }
func (s Size) minus(t Size) Size      { return Size{s.CPU - t.CPU, s.Memory - t.Memory} }
func (s Size) times(n, by int64) Size { return Size{s.CPU * n / by, s.Memory * n / by} }

func (s Size) quotas() []quota.Quota {
	return []quota.Quota{
		{Flavor: "default", Resource: "cpu", Nominal: s.CPU},
		{Flavor: "default", Resource: "memory", Nominal: s.Memory},
	}
}

func (s Size) podSets() []workload.PodSet {
	return []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{
		{Flavor: "default", Resource: "cpu", Amount: s.CPU},
		{Flavor: "default", Resource: "memory", Amount: s.Memory},
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

// role is what a queue is there for: 0 lends, 1 is full and alone, 2 is full, 3 is full
// and may preempt while borrowing, 4 borrows.
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

// State builds the world.
func (w World) State() preemption.State {
	st := preemption.State{Cohorts: w.cohorts()}
	for q := range w.Queues {
		name := fmt.Sprintf("cq-%04d", q)
		st.Queues = append(st.Queues, queue.Queue{
			Name: name, Cohort: w.cohort(q), Quotas: w.nominal(q).quotas(), Preemption: policies[w.role(q)],
		})
		for j := range w.Each {
			i := q*w.Each + j
			queued := start.Add(time.Duration(i/2) * time.Second)
			st.Admitted = append(st.Admitted, workload.Workload{
				ID: fmt.Sprintf("bench/wl-%06d", i), UID: fmt.Sprintf("uid-%06d", i), Queue: name,
				Priority: int64(100 * (j % 4)), Created: queued, Queued: queued,
				ReservedAt: start.Add(time.Hour + time.Duration(i*7919%100003)*time.Second),
				PodSets:    sizeOf(j).podSets(),
			})
		}
	}
	return st
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
			list[i].Quotas = middle.quotas()
		case "leaf-00-00":
			list[i].Quotas = leaf.quotas()
		}
	}
	return list
}

var policies = [...]queue.Preemption{
	0: {ReclaimWithinCohort: queue.LowerPriority},
	1: {WithinClusterQueue: queue.LowerPriority},
	2: {WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.LowerPriority},
	3: {
		WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.LowerPriority,
		BorrowWithinCohort: queue.BorrowWithinCohort{Policy: queue.LowerPriority, MaxPriorityThreshold: queue.AtMostPriority(100)},
	},
	4: {WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any},
}

// Request is a pending workload of the given queue, priority and size, in need of both
// resources.
func Request(queueName string, priority int64, size Size) preemption.Request {
	return preemption.Request{
		Workload: workload.Workload{
			ID: "bench/incoming", UID: "uid-incoming", Queue: queueName, Priority: priority,
			Created: Now, Queued: Now, PodSets: size.podSets(),
		},
		NeedsPreemption: []quota.FlavorResource{
			{Flavor: "default", Resource: "cpu"}, {Flavor: "default", Resource: "memory"},
		},
		Now: Now,
	}
}

// First is the size of the first k workloads, by priority and then the latest
// reservation, of the queue of the number; or, with a negative one, of all borrowers
// that the first queue can reclaim from.
func (w World) First(k, queueNumber int) Size {
	type running struct{ priority, reserved, j int }
	var list []running
	for q := range w.Queues {
		reachable := w.role(q) == 4 && (w.Leaves > 0 || q < w.Group)
		if q != queueNumber && (queueNumber >= 0 || !reachable) {
			continue
		}
		for j := range w.Each {
			list = append(list, running{100 * (j % 4), (q*w.Each + j) * 7919 % 100003, j})
		}
	}
	slices.SortFunc(list, func(a, b running) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(b.reserved, a.reserved))
	})
	var total Size
	for _, r := range list[:min(k, len(list))] {
		total = total.plus(sizeOf(r.j))
	}
	return total
}
