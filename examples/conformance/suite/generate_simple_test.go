package suite

import (
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// simple takes from a question what a simple scheduler does not have: time, elastic workloads, gates, options. Level 0 has preemption
// in queues and reclaim of what others borrow, level 1 shares, level 2 what permits preemption while borrowing.
func simple(q *DecideQuestion, level int) {
	config := preemption.Config{}
	if level == 1 {
		config.Sharing = preemption.Fair
	}
	q.Config = &config
	q.State.Flavors, q.State.Rules = nil, nil
	plain := func(w *workload.Workload) {
		w.Evicted, w.NeverYields, w.NeverPreempts, w.PriorityBoost, w.LocalQueue, w.Gates = false, false, false, 0, "", gate.Gates{}
		w.UID = w.ID
		if w.Queued.IsZero() {
			w.Queued = preemptiontest.Now.Add(-15 * time.Minute)
		}
		w.Created = w.Queued
		for i := range w.PodSets {
			p := &w.PodSets[i]
			p.MinCount, p.Terminating, p.NodeConstraints = quota.OptionalInt64{}, 0, nil
			for j := range p.Requests {
				if p.Requests[j].Flavor == "" {
					p.Requests[j].Flavor = "default"
				}
			}
		}
	}
	for i := range q.State.Cohorts {
		c := &q.State.Cohorts[i]
		c.Reserved = nil
		c.MinRuntime.Preempt, c.MinRuntime.Reclaim = quota.OptionalDuration{}, quota.OptionalDuration{}
		if level != 1 {
			c.FairWeight = quota.OptionalFloat64{}
		}
	}
	for i := range q.State.Queues {
		c := &q.State.Queues[i]
		c.Reserved, c.Inactive = nil, false
		c.MinRuntime.Preempt, c.MinRuntime.Reclaim = quota.OptionalDuration{}, quota.OptionalDuration{}
		if level != 1 {
			c.FairWeight = quota.OptionalFloat64{}
		}
		c.Preemption.MinAdmitDuration = quota.OptionalDuration{}
		if level != 2 {
			c.Preemption.BorrowWithinCohort.Policy, c.Preemption.BorrowWithinCohort.MaxPriorityThreshold = 0, quota.OptionalInt64{}
		}
		c.FlavorFungibility = queue.FlavorFungibility{}
	}
	for i := range q.State.Admitted {
		plain(&q.State.Admitted[i])
		if q.State.Admitted[i].ReservedAt.IsZero() {
			q.State.Admitted[i].ReservedAt = preemptiontest.Now.Add(-15 * time.Minute)
		}
	}
	plain(&q.Request.Workload)
	q.Request = preemption.Request{Workload: q.Request.Workload, Now: q.Request.Now}
}
