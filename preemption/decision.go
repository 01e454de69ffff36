package preemption

import (
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Outcome is the answer of a decision in one word. The zero value is invalid.
type Outcome uint8

const (
	// Fits: the request fits now without victims.
	Fits Outcome = 1 + iota
	// Preempt: the request fits once the victims are gone.
	Preempt
	// Gated: as Preempt, but a closed gate of the workload keeps it from preempting. The
	// workload should raise the signal ([gate.Gates.Signalled]); no workload yields.
	Gated
	// Wait: nobody may be told to leave who helps now. Time alone will change that, see
	// Decision.RetryAt; or what leaves already will be enough, see Decision.Leaving.
	Wait
	// Impossible: no permitted set of victims makes the request fit, now or at any time,
	// unless something other than time changes.
	Impossible
)

// Succeeds reports whether the workload will run by this decision: now (Fits) or when the
// victims are gone (Preempt).
func (o Outcome) Succeeds() bool { return o == Fits || o == Preempt }

// Possible reports whether the rules permit the request now: Fits, Preempt or Gated. Gated
// would be Preempt if the gates were open. See also [Decision.Possible].
func (o Outcome) Possible() bool { return o.Succeeds() || o == Gated }

// VictimReason is the right by which a victim is preempted. The zero value is invalid.
type VictimReason uint8

const (
	// InClusterQueue: the victim runs in the preemptor's own queue.
	InClusterQueue VictimReason = 1 + iota
	// InCohortReclamation: the victim's queue uses more than its nominal quota, and the
	// preemptor reclaims it.
	InCohortReclamation
	// InCohortReclaimWhileBorrowing: the victim is reclaimed by the right of
	// borrowWithinCohort, which also holds when the preemptor's queue goes over its nominal
	// quota. Without the victims the queue may still be within it.
	InCohortReclaimWhileBorrowing
	// InClusterQueueTimeBased: the victim runs in the preemptor's own queue, has equal
	// priority, and has held its quota for longer than minAdmitDuration. It is preempted by
	// this right alone.
	InClusterQueueTimeBased
	// InCohortFairSharing: by the strategies of fair sharing the victim's side of the cohort
	// has the larger share.
	InCohortFairSharing
	// ConfigurablePreemption: rules of the preemptor's queue accept the victim, and the
	// policies do not; see [Preemptor.Decide].
	ConfigurablePreemption
)

// Rule is a rule that keeps a workload from being a victim. The zero value is invalid.
type Rule uint8

const (
	// RuleWithinClusterQueue: the policy of the queue on its own workloads.
	RuleWithinClusterQueue Rule = 1 + iota
	// RuleReclaimWithinCohort: the policy of the queue on workloads of other queues.
	RuleReclaimWithinCohort
	// RuleWithinNominal: the other queue, or a cohort above it, uses no more than its quota:
	// there is nothing to reclaim.
	RuleWithinNominal
	// RuleBorrowWithinCohort: the preemptor's queue would have to borrow, and its policy does
	// not permit preempting this workload while borrowing.
	RuleBorrowWithinCohort
	// RuleMinRuntime: the minimum runtime of the workload, or its protection, is not over. Its
	// text is GuaranteedRuntime.
	RuleMinRuntime
	// RuleGuarded: a guard of the caller protects the workload (Config.Guards).
	RuleGuarded
	// RuleFairShare: the policies permit workloads of the queue, but the strategies of fair
	// sharing, or [Stable] sharing, do not.
	RuleFairShare
	// RuleNeverYields: the policies permit the workload, but it never yields
	// ([workload.Workload.NeverYields]).
	RuleNeverYields
	// RuleQueueInactive: the queue is inactive ([queue.Queue.Inactive]). Nobody preempts from it.
	// If it is the preemptor's own queue, nothing in it is admitted, and this is the only
	// blocker.
	RuleQueueInactive
	// RuleLimit: one of [Config.Limits], which SetBy names, refused the workload; with [Best] it
	// may be one that refuses the workload if all before it yield. Its text is
	// PreemptionLimitExceeded. Such blockers come first, by the order of the limits.
	RuleLimit
)

// Decision answers a [Request]. The zero value is invalid.
type Decision struct {
	Outcome Outcome `json:"outcome"`
	// Admitted is, for Fits, the workload as admitted: with the assigned flavors, and Now as
	// its reservation time. Else nil.
	Admitted *workload.Workload `json:"admitted,omitempty"`
	// Replaced is [Request.Replaces]: Edits removes that workload when it admits this one.
	Replaced string `json:"replaced,omitempty"`
	// Counts lists, with [Request.MinCounts], the number of replicas of every pod set with
	// which the workload fits or may preempt, if these are fewer than it asks for. Admitted
	// has these numbers. Empty: all replicas.
	//
	// If the workload neither fits nor may preempt with all replicas, all pod sets are reduced
	// in proportion. If n replicas in all may be left out, step i leaves out i/n of those that
	// each pod set may leave out, rounded down. A binary search finds a step with which the
	// workload fits or may preempt: it takes for granted that a step fails if a later one
	// does, so it may skip an earlier step that would succeed (Kueue's partial admission, as
	// built). If it finds none, the other fields are about all replicas, and RetryAt is the
	// earlier one of all replicas and of the fewest.
	Counts []Replicas `json:"counts,omitempty"`
	// Victims lists who must yield: for Preempt at least one; for Gated, who would yield if
	// the gates were open; with Leaving, who is waited for; else none. It is sorted by workload ID.
	//
	// The set is irreducible: if any one victim, or one replica of a victim, stays, then
	//
	//   1. the request does not fit; or
	//   2. in classical sharing, if the search kept the queue within its nominal quota:
	//      the queue borrows; or
	//   3. with [Stable] sharing, or another search than [Greedy]: another victim is preempted
	//      against the strategies.
	Victims []Victim `json:"victims,omitempty"`
	// Lost is, with [Config.Cost], what the victims lose by it, added up.
	Lost int64 `json:"lost,omitzero"`
	// BorrowHeight says how far up the cohort tree the request borrows once the victims are
	// gone: 0 within the nominal quota; else the height of the lowest cohort whose quota
	// holds the request, or the height of the root if none does.
	BorrowHeight int `json:"borrowHeight"`
	// Assignment lists the assigned flavors, if some request had none. To ask again with the
	// same flavors use [Assignment.Pin].
	Assignment Assignment `json:"assignment,omitempty"`
	// Leaving says, for Wait, that what was told to leave before will be enough: nobody else is told,
	// and no gate has to open for it. It is the Victims, all of whom leave already, and what terminates in a
	// [LeavingRoom]. RetryAt is zero. (Where all victims leave already and no gate is closed, and
	// nothing else terminates, the outcome is Preempt, with nothing to tell.)
	Leaving bool `json:"leaving,omitzero"`
	// RetryAt is, for Wait, the first instant at which the request fits or can preempt if
	// nothing but time changes, exact to the nanosecond and later than Now. At any earlier
	// instant the decision is Wait with the same RetryAt. (If the search for it takes too
	// long, it is an earlier instant: see [Config.MaxRetrySteps].) If flavors are assigned,
	// other flavors may be assigned at that instant. Zero for other outcomes.
	RetryAt time.Time `json:"retryAt,omitzero"`
	// Triggers lists the triggers of rules that hold now, if the policies do not suffice and the
	// preemptor's queue has rules; [rules.Observe] keeps since when, for [Request.TriggersSince].
	// There are none for a request that asks for more than could ever be available.
	Triggers []rules.Trigger `json:"triggers,omitempty"`
	// RuleFaults lists, for Wait and Impossible, the bad selectors of the preemptor's rules: in
	// the tier of one, and in later tiers, there are no candidates (Kueue as built). [rules.Validate]
	// finds them beforehand.
	RuleFaults []string `json:"ruleFaults,omitempty"`
	// Blockers lists, for Wait and Impossible, who may not yield and by which rule: one entry
	// for each queue, or one for a whole cohort that borrows nothing. A workload that the rules of the
	// preemptor's queue accept, and that something else keeps, comes before those that the policies refuse. The order is: the
	// preemptor's own queue; then the nearest cohort: its queues by name, then the queues of
	// its child cohorts; then the next cohort up in the same way. There are at most
	// [Config.MaxBlockers]. If no flavor could be assigned, the blockers are those in the
	// first flavor that the queue has no right to preempt for ([NotReclaimable]).
	Blockers []Blocker `json:"blockers,omitempty"`
	// Shortage lists, for Wait and Impossible, what is missing, by flavor and resource. It is
	// computed without a set of workloads, the first of these sets without which the request
	// still does not fit:
	//
	//   1. all workloads, protected or not, whose priority the policies permit for a
	//      request that may borrow (borrowWithinCohort included; of equals in the own queue
	//      all, newer or not), in queues that borrow anything, under cohorts that do. Those
	//      that never yield and those of inactive queues are none of them, unless they leave;
	//   2. those of them in queues that borrow what needs preemption, in classical sharing
	//      under cohorts that do, too;
	//   3. the workloads that may yield now, in fair sharing by the shares, too, as the
	//      search takes them: a queue that borrows no more when its turn comes gives none.
	//
	// With [Compat] PreemptWithinNominal all over the nominal quota is missing. An inactive queue
	// has no shortage.
	//
	// By rules alone ([Compat.RulesAlone]) 1 and 2 are all workloads where the scope of some selector
	// reaches, in the preemptor's queue and in others; 1 has all queues of the tree, and 2 is left
	// out, if such a selector has no constraint on quota. 3 are the workloads that the rules accept now.
	//
	// If no flavor could be assigned, it lists what is missing in each eligible flavor that
	// was tried, with no victims; an empty flavor stands for a resource without quota
	// in the queue.
	Shortage []Shortage `json:"shortage,omitempty"`
	// NoRoom says, for Wait and Impossible, that without all workloads that may yield now the
	// quota suffices, but [Request.Room] has no place.
	NoRoom bool `json:"noRoom,omitempty"`
	// Proof is set by the search [Best], unless the request fits, never preempts, or what is leaving
	// already is enough: it says
	// how good the victims are, or that no victims help. If flavors are assigned, it is about
	// the assigned ones.
	Proof *Proof `json:"proof,omitempty"`
}

// Possible reports whether the rules permit the request now, or what leaves already will be enough.
func (d Decision) Possible() bool { return d.Outcome.Possible() || d.Leaving }

// Victim is a workload that must yield.
type Victim struct {
	// Workload is the ID of the victim.
	Workload string `json:"workload"`
	// Queue is the queue in which the victim runs.
	Queue  string       `json:"queue"`
	Reason VictimReason `json:"reason"`
	// Cohort is the lowest cohort above both the victim's queue and the preemptor's. Empty
	// for InClusterQueue, and for ConfigurablePreemption in the own queue or in another tree.
	Cohort string `json:"cohort,omitempty"`
	// PreemptorQueued is, for InClusterQueueTimeBased, the queue-order timestamp of the
	// preemptor; see [Victim.Requeued]. Else zero.
	PreemptorQueued time.Time `json:"preemptorQueued,omitzero"`
	// Replicas says, if an elastic workload yields only surplus replicas, how many of which
	// pod set. Which pods these are is the caller's to say; if the request has a [ReplicaRoom], they are
	// the first so many in its order. Empty: the whole workload yields.
	Replicas []Replicas `json:"replicas,omitempty"`
	// Leaving: all that yields was told to leave before ([workload.Workload.Evicted],
	// [workload.PodSet.Terminating]), and the preemptor waits for that too. (Kueue: a target that
	// is evicted already.)
	Leaving bool `json:"leaving,omitempty"`
	// Order is the victim's number in the order in which the victims were chosen, from 1. Of
	// one that gives several replicas the first counts.
	Order int `json:"order,omitempty"`
	// Rules lists, for ConfigurablePreemption, the rules that accept the victim, tier by tier, in
	// their order. The first is of the tier that took it; Kueue names those with that trigger only.
	Rules []VictimRule `json:"rules,omitempty"`
	// Lost is, with [Config.Cost], what the victim loses.
	Lost int64 `json:"lost,omitzero"`
}

// Replicas is a number of replicas of one pod set.
type Replicas struct {
	PodSet string `json:"podSet"`
	Count  int64  `json:"count"`
	// Leaving is, of a victim, how many of them were told to stop before the decision
	// ([workload.PodSet.Terminating]). They yield together.
	Leaving int64 `json:"leaving,omitzero"`
}

// Requeued returns the victim as it waits again once it is gone: as it was submitted, with all
// its replicas, only the flavors that its submitter fixed (KEP-83, "Reassigning flavors after
// preemption"), and its gates closed.
//
// A victim that yielded because its time was over goes to the back: its queue-order timestamp is the later of its
// eviction time and the preemptor's timestamp, which may be later if clocks differ; zero if that is not known.
// Otherwise it would again be the older one and preempt its preemptor in the next cycle. Other victims keep
// their timestamp.
//
// submitted is the workload as it last waited, not as it ran with its assigned flavors and remaining replicas.
// Requeued fails if submitted has a reservation or was told to stop, and if it is not the victim.
func (v Victim) Requeued(submitted workload.Workload, evictedAt time.Time) (workload.Workload, error) {
	var faults fault.List
	if submitted.ID != v.Workload {
		faults.Add("submitted.id", "%q is not the victim, %q", submitted.ID, v.Workload)
	}
	if !submitted.ReservedAt.IsZero() || submitted.Evicted {
		faults.Add("submitted", "workload %q as it ran, not as it was submitted", submitted.ID)
	}
	w := submitted.Clone()
	if err := faults.Err(); err != nil {
		return w, err
	}
	if v.Reason == InClusterQueueTimeBased {
		if w.Queued = evictedAt; workload.CompareQueued(v.PreemptorQueued, evictedAt) > 0 {
			w.Queued = v.PreemptorQueued
		}
	}
	w.Gates = w.Gates.Evicted(evictedAt)
	return w, nil
}

// Blocker is a queue whose workloads could make the request fit but may not yield: they use something of the
// Shortage, below the node that it names. There is none for a request that asks for more than
// [Shortage.PotentialAvailable].
type Blocker struct {
	Rule Rule `json:"rule"`
	// Queue is the name of the queue. Empty if a whole cohort is the blocker.
	Queue string `json:"queue,omitempty"`
	// Cohort is, for RuleWithinNominal, the cohort that borrows nothing: no queue under it can
	// be reclaimed from. Else empty.
	Cohort string `json:"cohort,omitempty"`
	// Workload is the ID of the queue's first such workload: those that a minimum runtime, a guard
	// or NeverYields keeps come before those that withinClusterQueue or reclaimWithinCohort refuses,
	// and these before others; then what leaves, lower priority, later reservation, lower UID, lower ID.
	// Empty for RuleWithinNominal, which is not about a single workload.
	Workload string `json:"workload,omitempty"`
	// Until is the last instant at which the rule holds for the workload, if time ends the
	// rule. Else zero.
	Until time.Time `json:"until,omitzero"`
	// SetBy is, for RuleMinRuntime, the node that sets the minimum runtime, as `cohort
	// "research"`, or "default"; "protection" for [Config.Protection]; for RuleLimit,
	// the name of the limit. Else empty.
	SetBy string `json:"setBy,omitempty"`
}

// Shortage is what is missing in one flavor and resource.
type Shortage struct {
	quota.FlavorResource
	// Missing is the least additional amount that would have to be free, in the unit of the
	// resource.
	Missing int64 `json:"missing"`
	// PotentialAvailable is what the queue could use if nothing ran anywhere. A larger
	// request is never possible.
	PotentialAvailable int64 `json:"potentialAvailable"`
	// Cohort is the cohort whose quota or limit leaves least; of several the nearest. Empty:
	// the preemptor's queue.
	Cohort string `json:"cohort,omitempty"`
	// NeverYields: the workload never yields, and with it more than the quota of its queue, or of the cohort, would be
	// held by such workloads ([KAI]). Missing is by how much. No victim changes that.
	NeverYields bool `json:"neverYields,omitzero"`
}

// Edits returns the edits that carry out the decision on its snapshot. Fits admits the
// workload, with the assigned flavors and Now as its reservation time, and removes the one that it
// replaces. Preempt starts the
// eviction of the victims and of surplus replicas; they hold their quota until [Remove]. Wait, Impossible and Gated have no edits.
func (d Decision) Edits() []Edit {
	if !d.Outcome.Succeeds() {
		return nil
	}
	var edits []Edit
	if d.Admitted != nil {
		if d.Replaced != "" {
			edits = append(edits, Remove(d.Replaced))
		}
		edits = append(edits, Admit(*d.Admitted))
	}
	for _, v := range d.Victims {
		if !v.Leaving {
			edits = append(edits, StartEviction(v.Workload, v.Replicas...))
		}
	}
	return edits
}
