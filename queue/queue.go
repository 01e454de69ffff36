// Package queue holds what an operator configures: queues, the cohorts that they
// share quota in, and whom a queue's workloads may preempt; and the workloads that
// wait ([Pending]). It searches no victims.
package queue

import (
	"slices"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/optional"
	"github.com/cedesched/cede/quota"
)

// Queue is a leaf of the quota tree (Kueue's ClusterQueue). The zero value is not
// valid: a queue has a name.
type Queue struct {
	// Name is unique among the queues.
	Name string `json:"name"`
	// Cohort is the cohort in which the queue borrows and lends. Empty: none.
	Cohort string `json:"cohort,omitempty"`
	// Quotas is what the queue has, at most one entry for each flavor and
	// resource. Flavors are tried in their order here: see
	// [Queue.ResourceGroups]. A queue uses flavors and resources without entry as
	// if its nominal were zero, without bound on borrowing.
	Quotas []quota.Quota `json:"quotas,omitempty"`
	// Preemption says whom the queue's workloads may preempt. The zero value is
	// nobody.
	Preemption PreemptionPolicy `json:"preemption,omitzero"`
	// FlavorFungibility says how a flavor is chosen for workloads that come without.
	// The zero value is Kueue's defaults.
	FlavorFungibility FlavorFungibility `json:"flavorFungibility,omitzero"`
	// FairWeight is the queue's weight in fair sharing. Unset is 1.
	FairWeight optional.Float64 `json:"fairWeight,omitzero"`
	// Strategy is what becomes of a head that is not admitted. The zero value is
	// BestEffortFIFO. No decision reads it; the pending queue does.
	Strategy Strategy `json:"strategy,omitzero"`
	// MinRuntime guarantees time to the workloads that run in the queue.
	MinRuntime minruntime.Settings `json:"minRuntime,omitzero"`
}

// Cohort is an inner node of the quota tree: a group of queues and cohorts that
// share quota. The zero value is not valid: a cohort has a name.
type Cohort struct {
	// Name is unique among the cohorts. A queue may have the same name.
	Name string `json:"name"`
	// Parent is the cohort above. Empty: the cohort is a root.
	Parent string `json:"parent,omitempty"`
	// Quotas is what the cohort has for its members, besides what they lend.
	Quotas []quota.Quota `json:"quotas,omitempty"`
	// FairWeight is the cohort's weight among its siblings in fair sharing. Unset is 1.
	FairWeight optional.Float64 `json:"fairWeight,omitzero"`
	// MinRuntime guarantees time to the workloads that run in the queues under the
	// cohort, where nothing nearer to them does.
	MinRuntime minruntime.Settings `json:"minRuntime,omitzero"`
}

// Clone returns a copy that shares nothing with q.
func (q *Queue) Clone() Queue {
	c := *q
	c.Quotas = slices.Clone(q.Quotas)
	return c
}

// Clone returns a copy that shares nothing with c.
func (c *Cohort) Clone() Cohort {
	d := *c
	d.Quotas = slices.Clone(c.Quotas)
	return d
}
