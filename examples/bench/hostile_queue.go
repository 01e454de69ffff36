package main

import (
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// shapesOfAQueue are states of one queue, or of two that share.
func shapesOfAQueue() []shape {
	quick := func(_ int, w *workload.Workload) { w.Priority = 0 }
	return []shape{
		{"equal", func(n int) asked { return alone(n).each(quick).ask(n) }},
		{"equal-older", func(n int) asked { // nobody may yield
			return alone(n).with(func(q *question) { q.request.Workload.Priority = 0 })
		}},
		{"short-of-one", func(n int) asked { return alone(n).ask(n).each(lastStays(n)) }},
		{"own-priorities", func(n int) asked {
			return alone(n).each(func(i int, w *workload.Workload) { w.Priority = int64(i * 7919 % n) }).with(func(q *question) { q.request.Workload.Priority = int64(n) })
		}},
		{"alternating", func(n int) asked { return alone(n).each(alternate).filled() }},
		{"rising", func(n int) asked { // the last victim makes all before it needless
			return alone(n).each(func(i int, w *workload.Workload) {
				w.Priority, w.PodSets = int64(i/1000), podSets(1, int64(1+i))
			}).filled().with(func(q *question) { q.request.Workload.Priority = int64(n) })
		}},
		{"leaving", func(n int) asked { return alone(n).each(func(_ int, w *workload.Workload) { w.Evicted = true }) }},
		{"own-admit-times", func(n int) asked {
			return alone(n).queues(func(_ int, of *queue.Queue) { of.Preemption.MinAdmitDuration = quota.Some(longest) }).
				with(func(q *question) { q.request.Workload.Priority = 0 })
		}},
		{"local-queues", func(n int) asked {
			q := alone(n).each(func(i int, w *workload.Workload) { w.LocalQueue = numbered("lq", i) })
			for i := range n {
				q.request.LocalQueueUsage = append(q.request.LocalQueueUsage, queue.LocalQueueUsage{LocalQueue: numbered("lq", i), Usage: float64(i * 7919 % n)})
			}
			return q
		}},
		{"fewer-replicas", func(n int) asked { return fewer(alone(n), n) }},
		{"elastic-one", func(n int) asked { return elastic(alone(1), 11*n) }},
		{"elastic-some", func(n int) asked { return elastic(alone(n/100), 1000) }},
		{"elastic-all", func(n int) asked { return elastic(alone(n), n/1000) }},
		{"elastic-share-one", func(n int) asked { return elastic(shared(1, 1), 11*n) }},
		{"elastic-share-some", func(n int) asked { return elastic(shared(1, n/1000), 2000) }},
		{"elastic-share-spare", func(n int) asked { return spare(n) }},
	}
}

// lastStays keeps the last workload.
func lastStays(n int) func(i int, w *workload.Workload) {
	return func(i int, w *workload.Workload) { w.NeverYields = i == n-1 }
}

// alternate gives workloads amounts that differ widely from one to the next.
func alternate(i int, w *workload.Workload) {
	w.PodSets = podSets(1, int64(1+i%2*96+i%5))
}

// fewer asks for ten times as many replicas as there are GPUs, or for as many as can be had.
func fewer(q *question, n int) *question {
	q.request.Workload.PodSets = podSets(int64(10*n), 1)
	q.request.MinCounts = []preemption.Replicas{{PodSet: "main"}}
	return q
}

// elastic gives each workload so many replicas, of which none must stay.
func elastic(q *question, replicas int) *question {
	return q.each(func(_ int, w *workload.Workload) {
		w.PodSets = podSets(int64(min(replicas, workload.MaxElasticCount)), 1)
		w.PodSets[0].MinCount = workload.AtLeast(0)
	}).filled()
}

// spare returns one workload of n replicas and four that are ten times as large, of a higher priority: all replicas become victims, then
// a large workload, and every replica is put back.
func spare(n int) *question {
	q := shared(1, 5).each(func(i int, w *workload.Workload) {
		w.PodSets, w.Priority = podSets(1, int64(10*n)), 1
		if i == 0 {
			w.PodSets, w.Priority = podSets(int64(n), 1), 0
			w.PodSets[0].MinCount = workload.AtLeast(0)
		}
		w.ReservedAt = w.ReservedAt.Add(-time.Hour)
	})
	return q.filled().ask(10 * n)
}
