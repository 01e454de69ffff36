package queues

import (
	"time"

	"github.com/cedesched/cede/internal/base/enum"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Question is a state, a request and a configuration, all valid.
type Question struct {
	Cohorts  []queue.Cohort
	Queues   []queue.Queue
	Admitted []workload.Workload
	// Workload is the pending workload. All its requests have a flavor.
	Workload workload.Workload
	Needs    []quota.FlavorResource
	Now      time.Time
	Room     Room // or nil
	// Guard returns what the guards of the caller say; nil: there are none.
	Guard func(*workload.Workload) (until time.Time, never bool)

	Fair                     bool
	Strategies               []Strategy // of fair sharing, one or two
	IgnoreNominalEntitlement bool
	RecheckShares            bool
	Stable                   bool
	Reevaluate               bool
	ReconsiderLarger         bool
	PreemptWithinNominal     bool
	NewerByReservation       bool
	IgnoreMinAdmitDuration   bool
	MinRuntime               minruntime.Settings
	ReclaimMethod            minruntime.Method
	Protection               minruntime.Protection
	LocalQueueUsage          map[string]float64
	Limits                   []limits.Limit
	Events                   []limits.Event // the confirmed ones

	// Cost is what a workload, or one replica of a pod set, loses; nil: each victim counts 1.
	Cost        func(w *workload.Workload, podSet string) int64
	FewestFirst bool // the number of victims counts before what they lose
	IgnoreCaps  bool // see preemption.ExactSearch

	// Rules are those of the state, RulesAlone and TriggersSince are of the configuration and the
	// request.
	Rules         []rules.Config
	RulesAlone    bool
	TriggersSince []rules.Observation
	// MaxRuleLooks and SkipRuleRecheck are those of the configuration.
	MaxRuleLooks    int
	SkipRuleRecheck bool

	// AllSets: the answer is about all allowed sets, not only those of the documented search.
	AllSets bool

	// What is not known of RetryAt: nothing is given; it may be too early; other flavors may
	// be assigned at another time, so that it cannot be checked.
	SkipRetryAt, RetryAtIsBound, FlavorsOpen bool
}

// Room is that of package preemption.
type Room interface {
	Remove(workload string)
	Restore(workload string)
	Fits() bool
}

// ReplicaRoom is that of package preemption.
type ReplicaRoom interface {
	Room
	SetRemoved(workload, podSet string, replicas int64)
}

// Outcome, Reason and Strategy have the numbers of package preemption.
type (
	Outcome  uint8
	Reason   uint8
	Strategy uint8
)

// The constants have the names of package preemption.
const (
	Fits Outcome = 1 + iota
	Preempt
	Gated
	Wait
	Impossible
)

const (
	InClusterQueue Reason = 1 + iota
	InCohortReclamation
	InCohortReclaimWhileBorrowing
	InClusterQueueTimeBased
	InCohortFairSharing
	ConfigurablePreemption
)

var (
	outcomeNames = enum.Names[Outcome]{Type: "Outcome", First: 1, List: []string{"Fits", "Preempt", "Gated", "Wait", "Impossible"}}
	reasonNames  = enum.Names[Reason]{Type: "Reason", First: 1, List: []string{"InClusterQueue", "InCohortReclamation", "InCohortReclaimWhileBorrowing", "InClusterQueueTimeBased", "InCohortFairSharing", "ConfigurablePreemption"}}
)

// String returns the name of the constant.
func (o Outcome) String() string { return outcomeNames.String(o) }

// String returns the name of the constant.
func (r Reason) String() string { return reasonNames.String(r) }

const (
	FinalShare Strategy = 1 + iota
	InitialShare
)

// Answer is the decision that is judged.
type Answer struct {
	Outcome      Outcome
	Admitted     *workload.Workload
	Victims      []Victim
	BorrowHeight int
	RetryAt      time.Time
	Triggers     []rules.Trigger
}

// Victim is a workload that yields, or some replicas of it.
type Victim struct {
	Workload, Queue, Cohort string
	Reason                  Reason
	PreemptorQueued         time.Time
	Replicas                []Replicas // empty: the whole workload
	Rules                   []VictimRule
	Leaving                 bool
	Order                   int // zero for all victims: not known
}

// Replicas is a number of replicas of one pod set.
type Replicas struct {
	PodSet         string
	Count, Leaving int64
}
