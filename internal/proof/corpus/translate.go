package corpus

import (
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// State returns the case's cluster.
func (c *Case) State() preemption.State {
	var st preemption.State
	for _, co := range c.Cohorts {
		st.Cohorts = append(st.Cohorts, queue.Cohort{
			Name: co.Name, Parent: co.Parent, FairWeight: co.Weight, Quotas: effective(co.Quotas, co.Parent != "", false),
		})
	}
	for _, q := range c.ClusterQueues {
		st.Queues = append(st.Queues, queue.Queue{
			Name: q.Name, Cohort: q.Cohort, FairWeight: q.Weight, Quotas: effective(q.Quotas, q.Cohort != "", true), Preemption: q.Preemption,
		})
	}
	for i := range c.Admitted {
		st.Admitted = append(st.Admitted, c.Admitted[i].workload(c.Admitted[i].Usage))
	}
	return st
}

// Config returns the configuration that the case was asked under.
func (c *Case) Config() (preemption.Config, error) {
	if c.Mode != "fair" {
		return preemption.Config{}, nil
	}
	config := preemption.Config{Sharing: preemption.Fair}
	for _, name := range c.Strategies {
		var s preemption.FairStrategy
		if err := s.UnmarshalText([]byte(name)); err != nil {
			return config, err
		}
		config.Fair.Strategies = append(config.Fair.Strategies, s)
	}
	on := c.Gates.FairSharingPreemptWithinNominal
	config.Fair.IgnoreNominalEntitlement = on != nil && !*on
	return config, nil
}

// effective leaves out limits that Kueue accepts in a test table but ignores, and that a valid
// configuration does not have: those of a node without parent, and lending limits over the
// nominal quota.
func effective(quotas []quota.Quota, hasParent, isQueue bool) []quota.Quota {
	out := make([]quota.Quota, len(quotas))
	for i, q := range quotas {
		if limit, ok := q.LendingLimit.Get(); ok && isQueue && limit > q.Nominal {
			q.LendingLimit = quota.AtMost(q.Nominal)
		}
		if !hasParent {
			q.BorrowingLimit, q.LendingLimit = quota.OptionalInt64{}, quota.OptionalInt64{}
		}
		out[i] = q
	}
	return out
}

func (w *Workload) workload(amounts []quota.Amount) workload.Workload {
	return workload.Workload{
		ID: w.Name, UID: w.UID, Queue: w.ClusterQueue, Priority: w.Priority,
		Created: w.CreatedAt, Queued: w.QueueOrderAt, ReservedAt: w.QuotaReservedAt, Evicted: w.Evicted,
		PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: amounts}},
	}
}

// Request returns the question whose answer is the victims.
func (c *Case) Request() preemption.Request {
	amounts := make([]quota.Amount, len(c.Incoming.Requests))
	var needs []quota.FlavorResource
	for i, r := range c.Incoming.Requests {
		amounts[i] = r.Amount
		if r.Mode == "Preempt" {
			needs = append(needs, r.FlavorResource())
		}
	}
	w := c.Incoming.workload(amounts)
	w.NeverPreempts = len(needs) == 0 // Kueue: nothing needs preemption, so nobody is taken
	return preemption.Request{Workload: w, NeedsPreemption: needs, Now: c.Now}
}
