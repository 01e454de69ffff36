package main

import (
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// shapesOfATree are states of many queues and cohorts.
func shapesOfATree() []shape {
	everyOne := func(i int, of *queue.Queue) { of.Quotas = gpus(1) }
	return []shape{
		{"reclaim-10-a-queue", func(n int) asked { return lent(n/10, n).ask(n) }},
		{"reclaim-1-a-queue", func(n int) asked { return lent(n, n) }},
		{"reclaim-short-of-one", func(n int) asked { return lent(n/10, n).ask(n).each(lastStays(n)) }},
		{"reclaim-alternating", func(n int) asked { return lent(n/100, n).each(alternate).filled() }},
		{"nobody-borrows", func(n int) asked { return lent(n, n).queues(everyOne).ask(n) }},
		{"share-2-queues", func(n int) asked { return shared(2, n) }},
		{"share-100-a-queue", func(n int) asked { return shared(n/100, n) }},
		{"share-10-a-queue", func(n int) asked { return shared(n/10, n) }},
		{"share-1-a-queue", func(n int) asked { return shared(n, n) }},
		{"share-hopeless", func(n int) asked { return shared(n/10, n).ask(n) }},
		{"share-alternating", func(n int) asked { return shared(n/100, n).each(alternate).filled() }},
		{"share-own-priorities", func(n int) asked {
			return shared(n/100, n).each(func(i int, w *workload.Workload) { w.Priority = int64(i * 7919 % n) })
		}},
		{"share-own-weights", func(n int) asked {
			return shared(n/10, n).queues(func(i int, of *queue.Queue) { of.FairWeight = quota.WeightOf(float64(1 + i*7919%n)) })
		}},
		{"share-weights-zero", func(n int) asked {
			return shared(n/10, n).queues(func(_ int, of *queue.Queue) { of.FairWeight = quota.WeightOf(0) })
		}},
		{"share-leaving", func(n int) asked { return shared(n/10, n).each(func(_ int, w *workload.Workload) { w.Evicted = true }) }},
		{"share-and-within", func(n int) asked { // the first queue runs half of it itself
			return shared(n/100, n).each(func(i int, w *workload.Workload) {
				if i%2 == 0 {
					w.Queue = first
				}
			})
		}},
		{"lending-zero", func(n int) asked {
			return lent(n/10, n).queues(func(_ int, of *queue.Queue) { of.Quotas = gpus(1); of.Quotas[0].LendingLimit = quota.AtMost(0) }).ask(n)
		}},
		{"borrowing-limits", func(n int) asked {
			return shared(n/10, n).queues(func(_ int, of *queue.Queue) { of.Quotas[0].BorrowingLimit = quota.AtMost(int64(n / 4)) })
		}},
		{"levels-share", func(n int) asked { return chain(n, func(int) int { return 0 }) }},
		{"levels-lend", func(n int) asked { return chain(n, func(level int) int { return n / levels }) }},
		{"binary-tree", func(n int) asked { return binaryTree(n) }},
		{"other-flavors", func(n int) asked { return flavors(n) }},
	}
}

const levels = 50

// chain returns cohorts one below the other, each with twenty queues; the lowest queue asks. The root has n GPUs, and each level as many
// as own says.
func chain(n int, own func(level int) int) *question {
	const each = 20
	q := shared(levels*each-1, n)
	q.state.Cohorts = nil
	for level := range levels {
		c := queue.Cohort{Name: numbered("c", level), Quotas: gpus(own(level))}
		if level > 0 {
			c.Parent = numbered("c", level-1)
		}
		q.state.Cohorts = append(q.state.Cohorts, c)
	}
	if own(0) == 0 {
		q.state.Cohorts[0].Quotas = gpus(n)
	}
	return q.queues(func(i int, of *queue.Queue) { of.Cohort = numbered("c", levels-1-i/each) })
}

// binary returns a tree in which each cohort has two below it and a queue.
func binaryTree(n int) *question {
	cohorts := n / 50
	q := shared(cohorts-1, n)
	q.state.Cohorts = nil
	for i := range cohorts {
		c := queue.Cohort{Name: numbered("c", i), Quotas: gpus(n / cohorts)}
		if i > 0 {
			c.Parent = numbered("c", (i-1)/2)
		}
		q.state.Cohorts = append(q.state.Cohorts, c)
	}
	return q.queues(func(i int, of *queue.Queue) { of.Cohort = numbered("c", cohorts-1-i) })
}

// flavors returns workloads of 63 flavors that make no room, and come before the few of the requested one.
func flavors(n int) *question {
	const all = 64
	q := shared(n/100, n)
	list := []quota.Quota{}
	for f := range all {
		list = append(list, quota.Quota{Flavor: numbered("f", f), Resource: "gpu", Nominal: int64(n / all)})
	}
	q.state.Cohorts[0].Quotas = list
	q.queues(func(_ int, of *queue.Queue) {
		of.Quotas = nil
		for f := range all {
			of.Quotas = append(of.Quotas, quota.Quota{Flavor: numbered("f", f), Resource: "gpu"})
		}
	})
	q.each(func(i int, w *workload.Workload) {
		f := i / (n / 100) % all
		w.PodSets[0].Requests[0].Flavor, w.Priority = numbered("f", f), int64(all-f)
	})
	q.request = preemption.Request{Now: scenario.Now, Workload: q.request.Workload}
	q.request.Workload.Priority, q.request.Workload.PodSets = all+1, podSets(1, int64(n/all/2))
	q.request.Workload.PodSets[0].Requests[0].Flavor = numbered("f", 0)
	return q
}
