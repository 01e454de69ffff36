// Package queue holds what an operator configures: queues, the cohorts in which they share quota,
// and which workloads those of a queue may preempt. It also holds the waiting workloads
// ([Pending]). It does not search for victims: package preemption does.
//
//	research := queue.Cohort{Name: "research"}
//	teamA := queue.Queue{
//		Name: "team-a", Cohort: "research",
//		Quotas:     []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: 8}},
//		Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any},
//	}
//	err := queue.Validate([]queue.Cohort{research}, []queue.Queue{teamA})
//
// These are plain values: a preemption.State holds them, and preemption.SetQueue changes one. The
// zero values are careful: a zero [PreemptionPolicy] evicts no workload, a queue without quota may
// only borrow, a queue without cohort is alone, and the strategy is BestEffortFIFO.
//
// [Validate] returns everything that is wrong, as preemption.Faults with paths: names that are empty or
// double, cohorts that are unknown or above themselves, negative amounts, policies that exclude
// each other. [NewPending] makes an order of waiting workloads with the same check.
//
// Sources: KEP-83 and Kueue's API (v1beta2); hierarchical cohorts and the pending queue as built
// in Kueue.
package queue

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/quota"
)

// Queue is a leaf of the quota tree (Kueue's ClusterQueue). The zero value is not valid: a
// queue has a name.
type Queue struct {
	// Name is unique among the queues.
	Name string `json:"name"`
	// Cohort is the cohort in which the queue borrows and lends. Empty: no cohort.
	Cohort string `json:"cohort,omitempty"`
	// Labels are the labels of the queue, which the selectors of package rules read. Keys must
	// not be empty.
	Labels map[string]string `json:"labels,omitempty"`
	// Rules is the name of the rules by which workloads of the queue may preempt if the
	// policies do not suffice; see package rules and preemption.State.Rules. Empty, or a name
	// that no rules have: none.
	Rules string `json:"rules,omitempty"`
	// Quotas are the quotas of the queue, at most one entry for each flavor and resource.
	// Flavors are tried in the order of the entries: see [Queue.ResourceGroups]. Usage in a
	// column without an entry counts as with nominal 0 and no borrowing limit, but in no
	// share of fair sharing; and no flavor without an entry is assigned, but to a request of zero.
	Quotas []quota.Quota `json:"quotas,omitempty"`
	// Reserved is usage of the queue that no admitted workload accounts for: quota that was
	// given away earlier in a cycle, or that is held by what the state does not list. It
	// counts as usage, and no victim frees it. At most one entry for each flavor and
	// resource. Empty: none.
	Reserved []quota.Amount `json:"reserved,omitempty"`
	// Inactive says that the queue is stopped (Kueue: a ClusterQueue that is not active). Its
	// quota counts in the cohort, and so does what its workloads use; but no workload preempts
	// them, none of its waiting workloads is admitted or preempts, and [Pending] has
	// no head of it.
	Inactive bool `json:"inactive,omitzero"`
	// Preemption says which workloads those of the queue may preempt. The zero value:
	// none.
	Preemption PreemptionPolicy `json:"preemption,omitzero"`
	// FlavorFungibility says how a flavor is chosen for requests without one. The zero value
	// is Kueue's default.
	FlavorFungibility FlavorFungibility `json:"flavorFungibility,omitzero"`
	// FairWeight is the queue's weight in fair sharing. Unset is 1.
	FairWeight quota.OptionalFloat64 `json:"fairWeight,omitzero"`
	// Strategy says what happens to a head that is not admitted. The zero value is
	// BestEffortFIFO. Only [Pending] reads it; no decision does.
	Strategy Strategy `json:"strategy,omitzero"`
	// MinRuntime is the minimum runtime of the workloads in the queue. Unset: that of the
	// nearest cohort above that sets one.
	MinRuntime minruntime.Settings `json:"minRuntime,omitzero"`
}

// Cohort is an inner node of the quota tree: a group of queues and cohorts that
// share quota. The zero value is not valid: a cohort has a name.
type Cohort struct {
	// Name is unique among the cohorts. A queue may have the same name.
	Name string `json:"name"`
	// Parent is the cohort above. Empty: the cohort is a root.
	Parent string `json:"parent,omitempty"`
	// Quotas are the cohort's own quotas for its members, besides what the members lend.
	Quotas []quota.Quota `json:"quotas,omitempty"`
	// Reserved is usage of the cohort besides what its members use; see [Queue.Reserved].
	Reserved []quota.Amount `json:"reserved,omitempty"`
	// FairWeight is the cohort's weight among its siblings in fair sharing. Unset is 1.
	FairWeight quota.OptionalFloat64 `json:"fairWeight,omitzero"`
	// MinRuntime is the minimum runtime of workloads in the queues under the cohort that have
	// no nearer setting.
	MinRuntime minruntime.Settings `json:"minRuntime,omitzero"`
}

// Clone returns a copy that shares nothing with q.
func (q *Queue) Clone() Queue {
	c := *q
	c.Labels = maps.Clone(q.Labels)
	c.Quotas = slices.Clone(q.Quotas)
	c.Reserved = slices.Clone(q.Reserved)
	return c
}

// Clone returns a copy that shares nothing with c.
func (c *Cohort) Clone() Cohort {
	d := *c
	d.Quotas = slices.Clone(c.Quotas)
	d.Reserved = slices.Clone(c.Reserved)
	return d
}
