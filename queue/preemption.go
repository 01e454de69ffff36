package queue

import (
	"github.com/cedesched/cede/internal/base/enum"
	"github.com/cedesched/cede/optional"
)

// VictimPolicy says which workloads may be preempted, as seen from the pending one. The
// zero value is Never.
type VictimPolicy uint8

const (
	// Never permits nothing.
	Never VictimPolicy = iota
	// LowerPriority permits workloads of strictly lower effective priority.
	LowerPriority
	// LowerOrNewerEqualPriority permits those and workloads of equal effective
	// priority whose queue-order timestamp is strictly later.
	LowerOrNewerEqualPriority
	// Any permits workloads of any priority.
	Any
)

var policyNames = enum.Names[VictimPolicy]{Type: "VictimPolicy", List: []string{"Never", "LowerPriority", "LowerOrNewerEqualPriority", "Any"}, EmptyIsZero: true}

// String returns the name of the policy as Kueue has it.
func (p VictimPolicy) String() string { return policyNames.String(p) }

// MarshalText writes the name. It fails on a value that is none of the constants.
func (p VictimPolicy) MarshalText() ([]byte, error) { return policyNames.Marshal(p) }

// UnmarshalText reads a name; empty is Never. It fails on any other text.
func (p *VictimPolicy) UnmarshalText(text []byte) error { return policyNames.Unmarshal(text, p) }

// PreemptionPolicy says whom the workloads of a queue may preempt. The zero value is
// nobody.
type PreemptionPolicy struct {
	// WithinClusterQueue is about workloads of the same queue: Never,
	// LowerPriority or LowerOrNewerEqualPriority.
	WithinClusterQueue VictimPolicy `json:"withinClusterQueue,omitzero"`
	// MinAdmitDuration adds, to LowerOrNewerEqualPriority alone, workloads of equal
	// effective priority that have held their quota for longer than this, strictly:
	// exactly so long is not enough. It protects nobody: one that is newer may be
	// preempted at once, as without it. At least one minute; unset, time gives no right
	// to preempt (KEP-8522).
	MinAdmitDuration optional.Duration `json:"minAdmitDuration,omitzero"`
	// ReclaimWithinCohort is about workloads of other queues of the cohort tree
	// that use more than their nominal quota: Never, LowerPriority or Any. The hazard of
	// Any, in queues that also preempt within themselves: a workload within the nominal
	// quota takes room from one of higher priority, and loses it to one of its own queue
	// that borrows. So workloads may take each other's room in a circle, time standing
	// still. With LowerPriority the priorities rule that out.
	ReclaimWithinCohort VictimPolicy `json:"reclaimWithinCohort,omitzero"`
	// BorrowWithinCohort is about reclaiming while the pending workload itself
	// takes the queue over its nominal quota.
	BorrowWithinCohort BorrowWithinCohort `json:"borrowWithinCohort,omitzero"`
}

// BorrowWithinCohort permits a workload to preempt in other queues although its
// own queue will then borrow. The zero value permits nothing.
type BorrowWithinCohort struct {
	// Policy is Never or LowerPriority.
	Policy VictimPolicy `json:"policy,omitzero"`
	// MaxPriorityThreshold is the highest effective priority of workloads that
	// may be preempted so. The zero value is no bound.
	MaxPriorityThreshold optional.Int64 `json:"maxPriorityThreshold,omitzero"`
}

// AtMostPriority returns the threshold of a priority, inclusive.
func AtMostPriority(priority int64) optional.Int64 { return optional.Of(priority) }
