package queue

import (
	"time"
)

// RequeueReason says why a head was not admitted. The zero value is invalid.
type RequeueReason uint8

const (
	// FailedAfterNomination: another workload took the room in the same cycle, or the caller
	// failed to carry the decision out. The head is tried again in the next cycle.
	FailedAfterNomination RequeueReason = 1 + iota
	// PendingPreemption: victims of the head are terminating. Under BestEffortFIFO the head
	// then stays the first of its queue. Otherwise a newcomer of higher priority would take
	// the room that the victims left.
	PendingPreemption
	// Gated: the head may not preempt because of closed gates alone.
	Gated
	// NoFit: the head asks for more than its queue could ever have.
	NoFit
	// NoCandidates: the head does not fit and no workload may yield now; see Requeue.RetryAt.
	NoCandidates
	// Invalid: the workload itself is invalid.
	Invalid
	// Borrows: the head is refused only because it would borrow, while a workload of its tree waits for
	// quota within nominal ([Head.NominalWaits]). It steps aside, under both strategies, for those of its queue that
	// would not borrow, until an admission or another event in its tree, or until nobody waits so any more.
	Borrows
)

// again reports whether the head is tried again in the next cycle under BestEffortFIFO. Under
// StrictFIFO every head is.
func (r RequeueReason) again() bool { return r == FailedAfterNomination || r == PendingPreemption }

// hopeless reports whether workloads that are alike cannot do better.
func (r RequeueReason) hopeless() bool { return r == NoFit || r == NoCandidates }

// Requeue says why and how long a head is not admitted, as plain data. The zero value is
// invalid: a reason is needed.
type Requeue struct {
	Reason RequeueReason `json:"reason"`
	// RetryAt is the latest time at which an inadmissible workload becomes active again:
	// Decision.RetryAt. Zero: never by time alone.
	RetryAt time.Time `json:"retryAt,omitzero"`
	// NotBefore keeps the workload out of the order until then, whatever happens. Zero: no
	// backoff.
	NotBefore time.Time `json:"notBefore,omitzero"`
	// Alone makes only this workload inadmissible, not those that are alike. Set it if the
	// decision read something that [Pending.AlikeBy] does not return.
	Alone bool `json:"alone,omitzero"`
	// WithinNominal says that the workload waits for quota within the nominal quota of its
	// queue. While it waits, or others that became inadmissible with it, the heads of its
	// cohort tree have [Head.NominalWaits].
	WithinNominal bool `json:"withinNominal,omitzero"`
}
