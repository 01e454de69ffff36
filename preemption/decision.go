package preemption

import (
	"time"

	"github.com/cedesched/cede/internal/base/enum"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Outcome is what a decision comes to. The zero value is invalid.
type Outcome uint8

const (
	// Fits: there is room; nobody has to yield.
	Fits Outcome = 1 + iota
	// Preempt: there is room once the victims are gone.
	Preempt
	// Gated: as Preempt, but a closed gate of the workload keeps it from preempting.
	// The workload raises the signal ([gate.Gates.Signalled]); nobody yields.
	Gated
	// Wait: no permitted set of victims makes room now, but time alone will change
	// that; see Decision.RetryAt.
	Wait
	// Impossible: no permitted set of victims makes room, now or later, as long as
	// nothing but time changes.
	Impossible
)

// Succeeds reports whether the workload gets its place by this decision: at once (Fits)
// or when the victims are gone (Preempt).
func (o Outcome) Succeeds() bool { return o == Fits || o == Preempt }

// Possible reports whether the rules leave room now: Fits, Preempt, or Gated, which an
// open gate would make Preempt.
func (o Outcome) Possible() bool { return o.Succeeds() || o == Gated }

// VictimReason says by which right a victim is taken. The zero value is invalid.
type VictimReason uint8

const (
	// InClusterQueue: the victim runs in the preemptor's own queue.
	InClusterQueue VictimReason = 1 + iota
	// InCohortReclamation: the victim's queue uses more than its nominal quota,
	// which the preemptor reclaims.
	InCohortReclamation
	// InCohortReclaimWhileBorrowing: the same, by the right of borrowWithinCohort, which
	// holds though the preemptor's queue goes over its nominal quota. Whether it does in
	// the end is not said: the victims may leave it within.
	InCohortReclaimWhileBorrowing
	// InClusterQueueTimeBased: the victim runs in the preemptor's own queue, has
	// equal priority, and has held its quota for longer than minAdmitDuration, by
	// which alone it is taken.
	InClusterQueueTimeBased
	// InCohortFairSharing: the victim's side of the cohort has the larger share, by the
	// strategies of fair sharing.
	InCohortFairSharing
)

// Rule is what keeps a workload from being a victim. The zero value is invalid.
type Rule uint8

const (
	// WithinClusterQueue: the queue's policy on its own workloads.
	WithinClusterQueue Rule = 1 + iota
	// ReclaimWithinCohort: the queue's policy on workloads of other queues.
	ReclaimWithinCohort
	// WithinNominal: the other queue, or the cohort that it is under, uses no more
	// than its quota, so there is nothing to reclaim.
	WithinNominal
	// BorrowWithinCohort: the preemptor's queue would have to borrow, and its
	// policy does not permit taking this workload for that.
	BorrowWithinCohort
	// GuaranteedRuntime: the workload has not run its minimum runtime yet.
	GuaranteedRuntime
	// Guarded: a rule of the caller's own keeps the workload (Config.Guards).
	Guarded
	// FairShare: the shares. The queue has workloads that the policies permit, but by
	// the strategies it is not its turn to yield.
	FairShare
)

// Decision answers a [Request]. The zero value is invalid.
type Decision struct {
	Outcome Outcome `json:"outcome"`
	// Admitted is, for Fits, the workload as it is admitted: in the flavors assigned, with
	// Now as its reservation time. Else nil.
	Admitted *workload.Workload `json:"admitted,omitempty"`
	// Victims is who must yield: for Preempt at least one, for Gated who would have to
	// were the gates open, else none; sorted by workload ID. No part of them is enough for
	// the attempt that found them: without any one of them, or any replica of one, the
	// request does not fit; or, where the attempt was one that keeps the queue within its
	// nominal quota (classical sharing), it would borrow; or, with
	// [FairSharing.RecheckShares], another one would yield against the strategies.
	Victims []Victim `json:"victims,omitempty"`
	// BorrowHeight says how far up the cohort tree the request borrows once the
	// victims are gone: 0 within nominal quota; otherwise the height of the lowest
	// cohort whose quota holds it, the root's when none does.
	BorrowHeight int `json:"borrowHeight"`
	// Assignment is the flavors that were assigned, for a request with requests that
	// have none. [Assignment.Pin] fills them in, to ask again about the same flavors.
	Assignment Assignment `json:"assignment,omitempty"`
	// RetryAt is, for Wait, the first instant at which the request fits or can preempt
	// with nothing but time changed, to the nanosecond: asked at any instant before it,
	// the answer is to wait for it. (Where finding it takes too long it is an earlier
	// instant: see [Config.MaxRetrySteps].) It is always later than Now. Where flavors are
	// assigned, those assigned at that instant may be others than now. Else zero.
	RetryAt time.Time `json:"retryAt,omitzero"`
	// Blockers is, for Wait and Impossible, who stood in the way and by which rule: one
	// entry a queue, or one for a whole cohort that borrows nothing; the
	// preemptor's own queue first, then the queues of the nearest cohort by name,
	// then those of its child cohorts, then so for the next cohort up; at most
	// [Config.MaxBlockers]. Where no flavor could be assigned, it is about the first that
	// the queue has no right to preempt for ([NotReclaimable]).
	Blockers []Blocker `json:"blockers,omitempty"`
	// Shortage is, for Wait and Impossible, what is missing even with everybody gone whose
	// priority the policies permit for a request that may borrow (borrowWithinCohort
	// included), protected or not, in queues that borrow anything; where that would do, in
	// queues that borrow what needs preemption; where that would do, with everybody gone who
	// could be taken now, by the shares too. It is sorted by flavor and resource. Where no
	// flavor could be assigned, it is what is missing in each that was tried and is eligible,
	// with nobody gone; an empty flavor stands for a resource of which the queue has no quota.
	Shortage []Shortage `json:"shortage,omitempty"`
	// NoRoom: for Wait and Impossible, the quota would do with everybody gone who may
	// yield now, but [Request.Room] has no place even then.
	NoRoom bool `json:"noRoom,omitempty"`
}

// Victim is a workload that must yield.
type Victim struct {
	// Workload is its ID.
	Workload string `json:"workload"`
	// Queue is where it runs.
	Queue  string       `json:"queue"`
	Reason VictimReason `json:"reason"`
	// Cohort is the lowest cohort that holds both the victim's queue and the
	// preemptor's. Empty for InClusterQueue.
	Cohort string `json:"cohort,omitempty"`
	// PreemptorQueued is, for InClusterQueueTimeBased, the queue-order timestamp of the
	// workload that the victim yields to; see [Victim.Requeued]. Else zero.
	PreemptorQueued time.Time `json:"preemptorQueued,omitzero"`
	// Replicas is, where an elastic workload gives only of its surplus, how many of
	// which pod set. Empty: the whole workload yields.
	Replicas []Replicas `json:"replicas,omitempty"`
}

// Replicas is a number of replicas of a pod set.
type Replicas struct {
	PodSet string `json:"podSet"`
	Count  int64  `json:"count"`
}

// Requeued returns the queue-order timestamp with which the victim waits again, given
// the one it had and the time of its eviction. One that yielded because its time was
// over goes to the back: its timestamp is the later of its eviction and the preemptor's
// own timestamp, which lies ahead where clocks differ. Otherwise it would be the older
// one again, and take its room back in the next cycle. Others keep their place.
func (v Victim) Requeued(queued, evictedAt time.Time) time.Time {
	switch {
	case v.Reason != InClusterQueueTimeBased:
		return queued
	case v.PreemptorQueued.After(evictedAt):
		return v.PreemptorQueued
	}
	return evictedAt
}

// Blocker is a queue whose workloads could have made room but may not be taken.
type Blocker struct {
	Rule Rule `json:"rule"`
	// Queue is the queue. Empty where a whole cohort is the blocker.
	Queue string `json:"queue,omitempty"`
	// Cohort is, for WithinNominal, the cohort that borrows nothing, so that
	// nothing is reclaimed from any queue under it. Else empty.
	Cohort string `json:"cohort,omitempty"`
	// Workload is the ID of the first of them in the order of candidates. Empty
	// for WithinNominal, which is about no workload by itself.
	Workload string `json:"workload,omitempty"`
	// Until is, where time ends the rule, the last instant at which it holds for the
	// workload. Else zero.
	Until time.Time `json:"until,omitzero"`
	// SetBy is, for GuaranteedRuntime, the node whose setting it is, as in
	// `cohort "research"`, or "default". Else empty.
	SetBy string `json:"setBy,omitempty"`
}

// Shortage is what one flavor-resource lacks.
type Shortage struct {
	quota.FlavorResource
	// Missing is how much more would have to be free at least, in the resource's unit.
	Missing int64 `json:"missing"`
	// PotentialAvailable is what the queue could use if nothing ran anywhere. A
	// request for more is never possible.
	PotentialAvailable int64 `json:"potentialAvailable"`
	// Cohort is the node whose quota or limit is the bound: the nearest one where
	// several are. Empty: the preemptor's queue.
	Cohort string `json:"cohort,omitempty"`
}

// Edits returns what the decision does to the snapshot it was made on: Fits admits
// the workload, in the flavors assigned and with Now as its reservation time; Preempt
// starts the eviction of each victim, and of surplus replicas, which hold their quota until
// they are gone ([Remove], [Shrink]); Wait, Impossible and Gated change nothing.
func (d Decision) Edits() []Edit {
	if !d.Outcome.Succeeds() {
		return nil
	}
	var edits []Edit
	if d.Admitted != nil {
		edits = append(edits, Admit(*d.Admitted))
	}
	for _, v := range d.Victims {
		for _, r := range v.Replicas {
			edits = append(edits, StartShrink(v.Workload, r.PodSet, r.Count))
		}
		if len(v.Replicas) == 0 {
			edits = append(edits, StartEviction(v.Workload))
		}
	}
	return edits
}

var (
	outcomeNames = enum.Names[Outcome]{Type: "Outcome", First: 1, List: []string{"Fits", "Preempt", "Gated", "Wait", "Impossible"}}
	reasonNames  = enum.Names[VictimReason]{Type: "VictimReason", First: 1, List: []string{"InClusterQueue", "InCohortReclamation", "InCohortReclaimWhileBorrowing", "InClusterQueueTimeBased", "InCohortFairSharing"}}
	ruleNames    = enum.Names[Rule]{Type: "Rule", First: 1, List: []string{"WithinClusterQueue", "ReclaimWithinCohort", "WithinNominal", "BorrowWithinCohort", "GuaranteedRuntime", "Guarded", "FairShare"}}
)

// String returns the name of the constant.
func (o Outcome) String() string { return outcomeNames.String(o) }

// MarshalText writes the name. It fails on an invalid value.
func (o Outcome) MarshalText() ([]byte, error) { return outcomeNames.Marshal(o) }

// UnmarshalText reads a name. It fails on any other text.
func (o *Outcome) UnmarshalText(text []byte) error { return outcomeNames.Unmarshal(text, o) }

// String returns the name of the constant, as Kueue has it.
func (r VictimReason) String() string { return reasonNames.String(r) }

// MarshalText writes the name. It fails on an invalid value.
func (r VictimReason) MarshalText() ([]byte, error) { return reasonNames.Marshal(r) }

// UnmarshalText reads a name. It fails on any other text.
func (r *VictimReason) UnmarshalText(text []byte) error { return reasonNames.Unmarshal(text, r) }

// String returns the name of the constant.
func (r Rule) String() string { return ruleNames.String(r) }

// MarshalText writes the name. It fails on an invalid value.
func (r Rule) MarshalText() ([]byte, error) { return ruleNames.Marshal(r) }

// UnmarshalText reads a name. It fails on any other text.
func (r *Rule) UnmarshalText(text []byte) error { return ruleNames.Unmarshal(text, r) }
