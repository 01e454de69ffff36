package fairshare

import (
	"slices"
	"time"

	"github.com/cedesched/cede/quota"
)

// Tree is what there is to divide, and the queues that it is divided among. The order of the lists
// does not matter.
type Tree struct {
	Resources []Resource `json:"resources,omitempty"`
	Queues    []Queue    `json:"queues,omitempty"`
	// KValue says how much past usage counts: 0 is not at all. Unset counts as 1.
	KValue quota.OptionalFloat64 `json:"kValue,omitzero"`
	// Saturation is the factor by which a queue counts as fuller than it is in the rule [Saturation]. Unset
	// counts as 1.
	Saturation quota.OptionalFloat64 `json:"saturation,omitzero"`
}

// Clone returns a copy that shares no list.
func (t *Tree) Clone() Tree {
	own := *t
	own.Resources, own.Queues = slices.Clone(t.Resources), slices.Clone(t.Queues)
	for i := range own.Queues {
		own.Queues[i] = own.Queues[i].clone()
	}
	return own
}

func (q Queue) clone() Queue {
	q.Claims = slices.Clone(q.Claims)
	return q
}

// IsZero reports whether there is nothing to divide, and nobody who could have it.
func (t Tree) IsZero() bool {
	return len(t.Resources) == 0 && len(t.Queues) == 0 && t.KValue.IsZero() && t.Saturation.IsZero()
}

// Resource is a resource that is divided by itself. The zero value has no name and is not valid.
type Resource struct {
	Name string `json:"name"`
	// Total is the amount that the queues without a parent divide, at most [quota.MaxUsage].
	Total int64 `json:"total"`
	// Unit is the amount to which parts are rounded down: 1000 where amounts are in thousandths of
	// a device and devices are given whole. Zero counts as 1.
	Unit int64 `json:"unit,omitempty"`
}

// Queue is a queue of the tree. The zero value has no name and is not valid.
type Queue struct {
	Name string `json:"name"`
	// Parent is the name of the queue above. Empty: there is none.
	Parent string `json:"parent,omitempty"`
	// Priority is compared among siblings. What is left after the quotas goes to the highest first.
	Priority int64 `json:"priority,omitempty"`
	// CreatedAt breaks ties: the older queue gets a unit first.
	CreatedAt time.Time `json:"createdAt,omitzero"`
	// Claims has at most one entry for each resource.
	Claims []Claim `json:"claims,omitempty"`
}

// Claim is what a queue may have of a resource, and what its own pods want and hold. Amounts are
// not negative. The zero value guarantees nothing, has no limit and gets nothing over its quota.
type Claim struct {
	Resource string `json:"resource"`
	// Quota is what the queue is guaranteed, at most [quota.MaxUsage]. [quota.Unlimited] guarantees
	// all that there is to divide.
	Quota int64 `json:"quota,omitempty"`
	// Limit is the most that the queue and all below it may hold. Unset: no limit.
	Limit quota.OptionalInt64 `json:"limit,omitzero"`
	// OverQuotaWeight is the weight in the division of what the quotas leave. Zero: no part of it.
	OverQuotaWeight float64 `json:"overQuotaWeight,omitempty"`
	// PastUsage is what the queue used of late, as a part of the cluster.
	PastUsage float64 `json:"pastUsage,omitempty"`
	// Request is what the queue's own pods request, those that run included.
	Request int64 `json:"request,omitempty"`
	// Usage is what the queue's own pods hold.
	Usage int64 `json:"usage,omitempty"`
	// NonPreemptible is that part of Usage which pods hold that can never be preempted.
	NonPreemptible int64 `json:"nonPreemptible,omitempty"`
}

// QueueShares has the shares of a queue.
type QueueShares struct {
	Queue string `json:"queue"`
	// Shares has an entry for each resource of the tree, in its order.
	Shares []Share `json:"shares"`
}

// Share is what a queue is entitled to of one resource, and how that compares with what it holds.
// The zero value is the share of a queue that is entitled to nothing and holds nothing.
type Share struct {
	Resource string `json:"resource"`
	// FairShare is the sum of Deserved, OverQuota and Remainder.
	FairShare int64 `json:"fairShare"`
	// Deserved is what the queue's quota gives it.
	Deserved int64 `json:"deserved,omitempty"`
	// OverQuota is what the rounds by weight give it.
	OverQuota int64 `json:"overQuota,omitempty"`
	// Remainder is what it gets of that which rounding left, one unit at most.
	Remainder int64 `json:"remainder,omitempty"`
	// Allocatable is the larger of quota and fair share, and the limit at most. With unlimited quota
	// it is the limit; [quota.Unlimited] if there is none.
	Allocatable int64 `json:"allocatable"`
	// Request is what all pods in the queue and below it request.
	Request int64 `json:"request,omitempty"`
	// Usage is what they hold.
	Usage int64 `json:"usage,omitempty"`
	// NonPreemptible is what of that can never be preempted.
	NonPreemptible int64 `json:"nonPreemptible,omitempty"`
	// Starved is what the queue lacks: how much more it may hold within its fair share, its request
	// and its limit. Zero: it is not starved.
	Starved int64 `json:"starved,omitempty"`
	// Over is by how much the queue holds more than its fair share. Zero: it does not.
	Over int64 `json:"over,omitempty"`
}
