// Package nodes judges a decision of package placement. It shares no code with what decides.
// room.go counts what is free and places pods, rights.go says who may yield, judge.go gives
// the verdict.
package nodes

import (
	"time"

	"github.com/cedesched/cede/internal/base/enum"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Question is a state, a request and a configuration, all valid. Numbers of modes, orders and
// outcomes are those of package placement.
type Question struct {
	Nodes             []workload.Node
	Pods, Nominated   []workload.Pod
	Groups            []workload.PodGroup
	Budgets           []workload.DisruptionBudget
	Members           []workload.Pod // the pods of the request, with its group and priority
	Single            bool           // every node is a domain
	Each              bool           // the pods of a basic group: only the rights of the victims are judged
	Priority          int32
	NeverPreempts     bool
	MinCount          int
	Domains           [][]string // names of nodes
	Prefer            []string
	SkipFit           bool
	Now               time.Time
	Timeout           time.Duration // of termination
	Design, Replace   bool          // of the mode
	BestFit, Round    bool          // of the order
	HardBudgets       bool
	FirstViolated     bool // the budgets of a pod after the first violated one are not charged
	Exact             bool // the best answer was looked for, whatever the order
	OwnImportance     bool // the caller has another order of importance
	SkipRetryAt       bool
	RetryAtIsBound    bool
	MinRuntime        quota.OptionalDuration
	ReclaimMinRuntime quota.OptionalDuration
	Queue             string
	Filters           []Filter
	// Allows, if set, asks the set filters and the placer about a pod on its node beside exactly
	// these pods. Their answers need not be monotone: whether a victim could stay is then not
	// judged.
	Allows func(pod workload.Pod, node workload.Node, pods []workload.Pod) bool
	// Place, if set, places waiting pods beside exactly these pods, in place of the order.
	Place func(waiting []workload.Pod, nodes []string, pods []workload.Pod) []string
	Guard func(group string, pods []workload.Pod, priority int32) (until time.Time, never bool)
}

// Filter is that of package placement; Wide: conflicts reach over the cluster.
type Filter struct {
	Rule interface {
		Feasible(pod workload.Pod, node workload.Node) bool
		Conflict(pod, other workload.Pod) bool
	}
	Wide bool
}

// Outcome has the numbers of package preemption.
type Outcome uint8

// The outcomes.
const (
	Fits       Outcome = 1
	Preempt    Outcome = 2
	Wait       Outcome = 4
	Impossible Outcome = 5
)

var outcomeNames = enum.Names[Outcome]{Type: "Outcome", First: 1, List: []string{"Fits", "Preempt", "Gated", "Wait", "Impossible"}}

// String returns the name of the constant.
func (o Outcome) String() string { return outcomeNames.String(o) }

// Answer is the decision that is judged.
type Answer struct {
	Outcome     Outcome
	NoBudget    bool // the reason is that budgets forbid it
	RetryAt     time.Time
	Nominations [][2]string // pod and node
	Victims     []Victim
	Violations  int
	Proof       *Proof // nil: none is given
}

// Proof is what the exact search says.
type Proof struct {
	Optimal           bool
	Value, LowerBound Score
}

// Score is that of package placement.
type Score struct {
	Violations int64
	Highest    int32
	Sum, Pods  int64
	Started    time.Time
}

// Victim is a unit that yields.
type Victim struct {
	Group      string
	Pods       []string
	Priority   int32
	Violations int
	Order      int // zero for all victims: not known
}
