// Package queue holds what an operator configures: queues, the cohorts that they
// share quota in, and whom a queue's workloads may preempt; and the workloads that
// wait ([Pending]). It searches no victims.
package queue

import (
	"slices"

	"github.com/cedesched/cede/minruntime"
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
	// resource. The order matters to whoever chooses a flavor: see
	// [Queue.ResourceGroups]. A queue uses flavors and resources without entry as
	// if its nominal were zero, without bound on borrowing.
	Quotas []quota.Quota `json:"quotas,omitempty"`
	// Preemption says whom the queue's workloads may preempt. The zero value is
	// nobody.
	Preemption Preemption `json:"preemption,omitzero"`
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
	// MinRuntime guarantees time to the workloads that run in the queues under the
	// cohort, where nothing nearer to them does.
	MinRuntime minruntime.Settings `json:"minRuntime,omitzero"`
}

// ResourceGroup is a set of resources that get their flavors together, and the
// flavors to try, in order.
type ResourceGroup struct {
	Resources []string
	Flavors   []string
}

// ResourceGroups returns the groups that the quotas form: flavors and resources
// that are linked by an entry are in one group. Groups, flavors and resources are
// in the order in which they first appear in Quotas.
func (q *Queue) ResourceGroups() []ResourceGroup {
	var groups []ResourceGroup
	for _, e := range q.Quotas {
		merged := ResourceGroup{Resources: []string{e.Resource}, Flavors: []string{e.Flavor}}
		at := -1
		rest := groups[:0:0]
		for _, g := range groups {
			if !slices.Contains(g.Resources, e.Resource) && !slices.Contains(g.Flavors, e.Flavor) {
				rest = append(rest, g)
				continue
			}
			if at < 0 {
				at = len(rest)
				merged = ResourceGroup{slices.Clone(g.Resources), slices.Clone(g.Flavors)}
			} else {
				merged.Resources = append(merged.Resources, g.Resources...)
				merged.Flavors = append(merged.Flavors, g.Flavors...)
			}
		}
		if !slices.Contains(merged.Resources, e.Resource) {
			merged.Resources = append(merged.Resources, e.Resource)
		}
		if !slices.Contains(merged.Flavors, e.Flavor) {
			merged.Flavors = append(merged.Flavors, e.Flavor)
		}
		if at < 0 {
			at = len(rest)
		}
		groups = slices.Insert(rest, at, merged)
	}
	return groups
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
