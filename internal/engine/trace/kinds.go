package trace

import "github.com/cedesched/cede/internal/base/enum"

// Kind is the kind of a step; it decides which fields of [Step] are set. Zero is invalid.
type Kind uint8

const (
	// Asked: whether the request fits without victims. Fits, Missing.
	Asked Kind = 1 + iota
	// Hopeless: sums prove that no victims help. Bound, Missing.
	Hopeless
	// AttemptBegins: candidates are taken in order. Borrowing.
	AttemptBegins
	// AttemptEnds. Fits.
	AttemptEnds
	// PhaseBegins: the candidates of one kind.
	PhaseBegins
	// RoundBegins: a round of the tournament of fair sharing. Second.
	RoundBegins
	// Turn: the tournament chooses a queue. Node, Ours: its weighted share.
	Turn
	// Skipped: candidates that a rule refuses. Rule, Node: their queue, or the node that
	// borrows nothing; Workload and Others: the first few; Count: all of them; for rules of
	// time Until and SetBy: those of the first.
	Skipped
	// Compared: the shares decide about a candidate of another queue. Workload, Replicas,
	// Strategy, Ours, Before, After, Fits: it may be taken.
	Compared
	// Taken: a candidate becomes a victim. Workload, PodSet, Replicas, Node: its queue;
	// Missing: what is still short without it, empty if the quota is enough.
	Taken
	// RoomAsked: whether there is a place on nodes, too. Fits.
	RoomAsked
	// PutBack: a victim is not needed. Workload, PodSet, Replicas.
	PutBack
	// Instant: an instant is tried for RetryAt. At, Fits.
	Instant

	// SurveyBegins: a part of the cohort tree is surveyed. Node: the own queue, or a cohort;
	// Class.
	SurveyBegins
	// Judged: whether a workload of that part, or a unit, may yield. Node: its queue; Workload
	// and Group, Rule: zero
	// if it may; for rules of time Until and SetBy; for WithinNominal SetBy: the node that
	// borrows nothing.
	Judged
	// TierBegins: rules of one trigger are looked at. Count: the index of the trigger.
	TierBegins
	// TierQuota: which constraints on quota hold for a workload. Node: its queue; Workload; Count: the
	// set, as package rules has it.
	TierQuota
	// TierJudged: of a workload that some selector of the tier accepts, what keeps it from yielding.
	// Node: its queue; Workload, Rule: zero if nothing does; Until and SetBy as of Judged.
	TierJudged
	// Limited: a limit on preemptions refuses a candidate. Workload, PodSet, Replicas, Node: its queue;
	// Limit.
	Limited

	// PodBegins: a pod of a basic group is decided about. Workload.
	PodBegins
	// DomainBegins: victims are looked for in a domain. Domain; Second: again, so that no
	// budget is violated.
	DomainBegins
	// DomainSkipped: without a search it is clear that a domain is not the best. Domain.
	DomainSkipped
	// Placed: the pods are placed without all units that may yield. Count: pods with a place;
	// Amount: how many must have one; Fits.
	Placed
	// OverBudget: a unit is put back first, because it violates a budget. Group, Workload,
	// Count: the pods that do.
	OverBudget
	// DomainEnds: the result of a domain. Domain, Found; if there are victims Count,
	// Violations and Priority: the highest of a victim; Fits: it is the best so far.
	DomainEnds
	// Chosen: the domain of the answer. Domain.
	Chosen
)

// Rule is a rule that keeps a workload, or a unit of nodes, from yielding. Zero is invalid. The
// first nine have the numbers of the exported preemption.Rule, the rules of blockers.
type Rule uint8

const (
	// WithinClusterQueue, ReclaimWithinCohort and BorrowWithinCohort are the policies.
	WithinClusterQueue Rule = 1 + iota
	ReclaimWithinCohort
	// WithinNominal: the queue, or a cohort above it, borrows nothing of what needs
	// preemption.
	WithinNominal
	BorrowWithinCohort
	// MinRuntime: its minimum runtime is not over.
	MinRuntime
	// Guarded: a guard of the caller protects it.
	Guarded
	// FairShare: the strategies of fair sharing.
	FairShare
	// NeverYields: the workload never yields.
	NeverYields
	// QueueInactive: the queue is not active.
	QueueInactive
	// NotNewer: an equal that is neither newer than the preemptor nor expired.
	NotNewer
	// NotUsed: the candidate uses nothing of what needs preemption.
	NotUsed
	// NotLower: the priority of the unit is not lower.
	NotLower
	// Terminating: a pod of the unit was told to stop too long ago.
	Terminating
	// Unstable: it might take its place back, in stable fair sharing.
	Unstable
)

// Right is the right by which a victim yields; preemption.VictimReason has the same constants. Zero is invalid.
type Right uint8

const (
	InQueue Right = 1 + iota
	Reclaimed
	ReclaimedWhileBorrowing
	TimeIsOver
	ByShares
	ByRules
)

// Class is the right by which candidates are preempted. Zero is invalid.
type Class uint8

const (
	// Hierarchical: the request fits in the quota of a subtree that the candidates are not
	// in; in fair sharing, all other queues.
	Hierarchical Class = 1 + iota
	// Priority: other queues, by the policies on priority and on borrowing.
	Priority
	// Own: the preemptor's own queue.
	Own
)

// Bound is a bound that proves a request hopeless. Zero is invalid.
type Bound uint8

const (
	// Potential: the request is more than could ever be available.
	Potential Bound = 1 + iota
	// InReach: the request does not fit without all workloads of permitted priority in queues
	// that borrow anything.
	InReach
	// InNeed: the same, in queues that borrow what needs preemption.
	InNeed
	// InTree: the same, in all queues of the tree.
	InTree
)

// Strategy is a test of fair sharing. Zero is invalid.
type Strategy uint8

const (
	// FinalShare: ours is at most theirs after.
	FinalShare Strategy = 1 + iota
	// InitialShare: ours is less than theirs before.
	InitialShare
)

// Found is the result of a domain. Zero is invalid.
type Found uint8

const (
	// NoVictims: no unit there may yield.
	NoVictims Found = 1 + iota
	// NoRoom: there is too little room without all that may yield.
	NoRoom
	// Budgets: only against a budget.
	Budgets
	// Victims: there is room without the victims.
	Victims
)

var (
	kindNames = enum.Names[Kind]{Type: "Kind", First: 1, List: []string{"Asked", "Hopeless", "AttemptBegins", "AttemptEnds",
		"PhaseBegins", "RoundBegins", "Turn", "Skipped", "Compared", "Taken", "RoomAsked", "PutBack", "Instant", "SurveyBegins", "Judged", "TierBegins", "TierQuota", "TierJudged", "Limited",
		"PodBegins", "DomainBegins", "DomainSkipped", "Placed", "OverBudget", "DomainEnds", "Chosen"}}
	ruleNames = enum.Names[Rule]{Type: "Rule", First: 1, List: []string{"WithinClusterQueue", "ReclaimWithinCohort", "WithinNominal", "BorrowWithinCohort",
		"MinRuntime", "Guarded", "FairShare", "NeverYields", "QueueInactive", "NotNewer", "NotUsed", "NotLower", "Terminating", "Unstable"}}
)

// String returns the name of the constant.
func (k Kind) String() string { return kindNames.String(k) }

// String returns the name of the constant.
func (r Rule) String() string { return ruleNames.String(r) }
