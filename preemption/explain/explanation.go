package explain

import (
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
)

// Explanation says how a decision came about, and what would change it; see
// [Explain]. It is plain data: its JSON form round-trips. Lists of workloads are
// short, whatever the cluster holds; numbers are exact. The zero value is invalid.
type Explanation struct {
	Question Question `json:"question"`
	// Decision is the one that [preemption.Preemptor.Decide] makes. Its Assignment has the flavors that
	// were tried.
	Decision preemption.Decision `json:"decision"`
	// Levels says who may yield, if the request does not fit: first the own queue, then, from
	// the nearest cohort to the root, the queues under it that are not under the one before. Empty
	// if rules take the place of the policies.
	Levels []ExplainedLevel `json:"levels,omitempty"`
	// Attempts are the searches for victims, in order; the last one counts.
	Attempts []ExplainedAttempt `json:"attempts,omitempty"`
	// Rules says what the rules of the preemptor's queue say. Nil: it has none.
	Rules *ExplainedRules `json:"rules,omitempty"`
	// Improved says, with the [preemption.Best] search, how better victims were found. Nil
	// if no victims were looked for, or if victims are taken by rules.
	Improved *ExplainedImprovement `json:"improved,omitempty"`
	// Instants is the number of instants that were tried for [preemption.Decision.RetryAt].
	Instants int64 `json:"instants,omitempty"`
	// Ways are changes that make the request succeed, each the smallest of its kind. Empty if
	// it succeeds, or if nothing of what is tried helps.
	Ways []Way `json:"ways,omitempty"`
}

// Question is what was asked.
type Question struct {
	Workload string `json:"workload"`
	Queue    string `json:"queue"`
	// Priority is the one that counts, with the boost.
	Priority int64     `json:"priority,omitempty"`
	Now      time.Time `json:"now"`
	// Needs lists what is requested, by flavor and resource. If no flavor could be assigned,
	// it has no entries for those requests.
	Needs []Need `json:"needs,omitempty"`
}

// Need is what is requested of one resource in one flavor, or what is still short of it.
type Need struct {
	quota.FlavorResource
	// Amount is the amount that is requested.
	Amount int64 `json:"amount,omitempty"`
	// Missing is what is short. Zero: nothing.
	Missing int64 `json:"missing,omitempty"`
	// Node is the queue or cohort whose quota or limit is exceeded, as `cohort "research"`.
	// Empty if nothing is short.
	Node string `json:"node,omitempty"`
}

// Right is the right by which the workloads of a level may be preempted. The zero value is
// invalid.
type Right uint8

const (
	// RightOwnQueue: they run in the preemptor's queue (withinClusterQueue).
	RightOwnQueue Right = 1 + iota
	// RightReclaim: the request fits in the quota of a subtree that they are not in
	// (reclaimWithinCohort).
	RightReclaim
	// RightBorrow: it does not, so while the queue borrows they may be preempted by
	// borrowWithinCohort only.
	RightBorrow
	// RightShares: the shares of fair sharing decide (reclaimWithinCohort).
	RightShares
)

// ExplainedLevel says who may yield in one part of the cohort tree while no workload has yielded.
type ExplainedLevel struct {
	// Node is the own queue, as `queue "a"`, or a cohort.
	Node  string `json:"node"`
	Right Right  `json:"right"`
	// Policy is the setting that gives the right, as "reclaimWithinCohort Any".
	Policy string `json:"policy"`
	// MayYield counts the workloads that no rule keeps from yielding. Whether they do depends
	// on the order of candidates and, in fair sharing, on the shares; if the request does not
	// succeed, those that the shares keep are in Kept.
	MayYield Counted `json:"mayYield,omitzero"`
	// Kept counts the others, by the first rule that keeps them and who set it.
	Kept []Kept[preemption.Rule] `json:"kept,omitempty"`
}

// Bound is a sum that proves a request hopeless. The zero value is invalid.
type Bound uint8

const (
	// BoundPotential: the request is more than could ever be available.
	BoundPotential Bound = 1 + iota
	// BoundInReach: it does not fit without all workloads of permitted priority in queues that
	// borrow anything.
	BoundInReach
	// BoundInNeed: the same, in queues that borrow what needs preemption.
	BoundInNeed
	// BoundInTree: the same, in all queues of the tree: some selector has no constraint on quota.
	BoundInTree
)

// ExplainedAttempt is one search for victims.
type ExplainedAttempt struct {
	// WithinNominal: the request may not take its queue over its nominal quota.
	WithinNominal bool `json:"withinNominal,omitempty"`
	// ByRules: rules take candidates after all that the policies permit; those of the policies come
	// first, and none in an attempt by rules alone.
	ByRules bool `json:"byRules,omitempty"`
	// Succeeded: without the victims the request fits.
	Succeeded bool `json:"succeeded,omitempty"`
	// Taken lists the first candidates that were taken, in order; TakenCount counts all.
	Taken      []TakenStep `json:"taken,omitempty"`
	TakenCount int64       `json:"takenCount,omitempty"`
	// PutBack counts the candidates that were not needed in the end.
	PutBack Counted `json:"putBack,omitzero"`
	// Refused counts the candidates that the first strategy of fair sharing refused. The second
	// may have taken some of them.
	Refused Counted `json:"refused,omitzero"`
	// Idle counts the candidates that were passed over because the ones before them had
	// brought their queue, or a cohort above it, back to its quota.
	Idle Counted `json:"idle,omitzero"`
	// Limited counts the candidates that each limit refused, those of several limits with the first.
	Limited []ExplainedLimit `json:"limited,omitempty"`
	// Hopeless is the sum that ended the attempt, if one did, and Missing what is short by it.
	Hopeless Bound  `json:"hopeless,omitzero"`
	Missing  []Need `json:"missing,omitempty"`
}

// ExplainedLimit counts the candidates that one of [preemption.Config.Limits] refused.
type ExplainedLimit struct {
	Limit string `json:"limit"`
	Counted
}

// TakenStep is a candidate that was taken.
type TakenStep struct {
	Workload string `json:"workload"`
	Queue    string `json:"queue"`
	// PodSet and Replicas say how many surplus replicas of which pod set. Empty and zero: the
	// whole workload.
	PodSet   string `json:"podSet,omitempty"`
	Replicas int64  `json:"replicas,omitempty"`
	// Leaving: it was told to leave before; see [preemption.Victim.Leaving].
	Leaving bool `json:"leaving,omitempty"`
	// Reason is the right by which it is taken. Zero in an [Improvement].
	Reason preemption.VictimReason `json:"reason,omitzero"`
	// Rules lists the rules that accept it, if rules took it; see [preemption.Victim.Rules].
	Rules []preemption.VictimRule `json:"rules,omitempty"`
	// Missing is what was still short. Empty: the quota was enough.
	Missing []Need `json:"missing,omitempty"`
	// NoRoom: the quota was enough, but [preemption.Request.Room] had no place.
	NoRoom bool `json:"noRoom,omitempty"`
}
