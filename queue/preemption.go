package queue

import (
	"github.com/cedesched/cede/quota"
)

// VictimPolicy says which workloads a pending workload may preempt. The zero value is Never.
type VictimPolicy uint8

const (
	// Never permits nothing.
	Never VictimPolicy = iota
	// LowerPriority permits workloads of strictly lower effective priority.
	LowerPriority
	// LowerOrNewerEqualPriority permits those, and workloads of equal effective priority
	// whose queue-order timestamp is strictly later.
	LowerOrNewerEqualPriority
	// Any permits workloads of any priority.
	Any
)

// PreemptionPolicy says which workloads those of a queue may preempt. The zero value: none.
type PreemptionPolicy struct {
	// WithinClusterQueue is for victims in the same queue: Never, LowerPriority or
	// LowerOrNewerEqualPriority.
	WithinClusterQueue VictimPolicy `json:"withinClusterQueue,omitzero"`
	// MinAdmitDuration is valid only with LowerOrNewerEqualPriority. It also permits
	// workloads of equal effective priority that have held their quota strictly longer than
	// this. It protects no workload: a newer workload may still be preempted at once. At least one
	// minute; unset, time gives no right to preempt (KEP-8522).
	MinAdmitDuration quota.OptionalDuration `json:"minAdmitDuration,omitzero"`
	// ReclaimWithinCohort is for victims in other queues of the cohort tree that use more
	// than their nominal quota: Never, LowerPriority or Any. Any has a hazard in queues that
	// also preempt within themselves: a workload within the nominal quota takes room from one
	// of higher priority, and loses it to a workload of its own queue that borrows. So
	// workloads may take each other's room in a circle while time stands still. LowerPriority
	// excludes that.
	ReclaimWithinCohort VictimPolicy `json:"reclaimWithinCohort,omitzero"`
	// BorrowWithinCohort is for victims in other queues when the pending workload takes its
	// own queue over its nominal quota.
	BorrowWithinCohort BorrowWithinCohort `json:"borrowWithinCohort,omitzero"`
}

// BorrowWithinCohort permits a workload to preempt in other queues although its
// own queue will then borrow. The zero value permits nothing.
type BorrowWithinCohort struct {
	// Policy is Never or LowerPriority.
	Policy VictimPolicy `json:"policy,omitzero"`
	// MaxPriorityThreshold is the highest effective priority of such victims. The zero value
	// is no limit.
	MaxPriorityThreshold quota.OptionalInt64 `json:"maxPriorityThreshold,omitzero"`
}

// AtMostPriority returns a threshold that admits priorities up to the given one.
func AtMostPriority(priority int64) quota.OptionalInt64 { return quota.Some(priority) }
