package placement

import (
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// Explanation says how a decision came about, and what would change it; see [Preemptor.Explain]. It is plain data:
// its JSON form round-trips. Lists are short, whatever the cluster holds; numbers are exact. The zero value is
// invalid.
type Explanation struct {
	Question Question `json:"question"`
	// Decision is the one that [Preemptor.Decide] makes.
	Decision Decision `json:"decision"`
	// MayYield counts the units in the cluster that no rule keeps from yielding, if the request does not fit. Whether
	// they do depends on where they run, and on budgets.
	MayYield preemption.Counted `json:"mayYield,omitzero"`
	// Kept counts the others, by rule.
	Kept []Kept `json:"kept,omitempty"`
	// Domains says how the search for victims went in the first domains, in order, and in the one that was chosen.
	// Searched counts all that were searched: each time, if a domain is searched twice for the budgets, or for each
	// pod of a Basic group. Skipped counts domains that cannot be better than the best domain before them, by the
	// sums of their nodes.
	Domains  []ExplainedDomain `json:"domains,omitempty"`
	Searched int64             `json:"searched,omitempty"`
	Skipped  int64             `json:"skipped,omitempty"`
	// These count the searched domains by result: no unit there may yield; too little room without all units that may
	// yield; room only by violating a budget; room once the victims are gone.
	NoVictims   preemption.Counted `json:"noVictims,omitzero"`
	NoRoom      preemption.Counted `json:"noRoom,omitzero"`
	BudgetsBar  preemption.Counted `json:"budgetsBar,omitzero"`
	WithVictims preemption.Counted `json:"withVictims,omitzero"`
	// Instants is the number of instants that were tried for [Decision.RetryAt].
	Instants int64 `json:"instants,omitempty"`
	// Ways are changes that make the request succeed, each the smallest of its kind. Empty if it succeeds, or if
	// nothing of what is tried helps.
	Ways []Way `json:"ways,omitempty"`
}

// Question is what was asked.
type Question struct {
	// Group is the pending group; empty for a single pod. Pod is the first pod, Pods their number, MinCount how many
	// must have a place.
	Group    string    `json:"group,omitempty"`
	Pod      string    `json:"pod"`
	Pods     int       `json:"pods"`
	MinCount int       `json:"minCount,omitempty"`
	Priority int32     `json:"priority,omitempty"`
	Now      time.Time `json:"now,omitzero"`
}

// Kept is a number of units that one rule keeps from yielding. RuleTerminating: they were told to stop already.
type Kept struct {
	Rule Rule `json:"rule"`
	// SetBy is, for RuleMinRuntime, what sets it: "pod", "group" or "default". Else empty.
	SetBy string `json:"setBy,omitempty"`
	preemption.Counted
	// From and Until are the first and the last instant at which the rule ends for one of them, if time ends it.
	// Zero: it does not.
	From  time.Time `json:"from,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// ExplainedDomain is the search for victims in one domain.
type ExplainedDomain struct {
	// Name is the name of the domain; empty: the whole cluster.
	Name string `json:"name,omitempty"`
	// WithinBudgets: it is the second search, in which units stay so that no budget is violated.
	WithinBudgets bool `json:"withinBudgets,omitempty"`
	// Placed is the number of pods that have a place without all units that may yield; Needed is how many must have
	// one.
	Placed int64 `json:"placed,omitempty"`
	Needed int64 `json:"needed,omitempty"`
	// OverBudget counts the units that are put back first, because they violate a budget. In a large domain these are
	// the units on nodes of the placed pods; the others stay without a look at each.
	OverBudget preemption.Counted `json:"overBudget,omitzero"`
	// PutBack counts the units that were put back because the pods keep their room.
	PutBack preemption.Counted `json:"putBack,omitzero"`
	// Victims is the number of victims, Violations the number of pods evicted against a budget, Highest the highest
	// priority of a victim.
	Victims    int64 `json:"victims,omitempty"`
	Violations int   `json:"violations,omitempty"`
	Highest    int32 `json:"highest,omitempty"`
	// Better: the [Exact] search found something better than the steps, to which OverBudget and PutBack belong.
	// StepVictims is the number of their victims; zero: they found none who make room.
	Better      bool  `json:"better,omitempty"`
	StepVictims int64 `json:"stepVictims,omitempty"`
	// Reason says why there is no place. Zero: there is.
	Reason Reason `json:"reason,omitzero"`
	// Chosen: it is the domain of the answer.
	Chosen bool `json:"chosen,omitempty"`
}

// WayKind is what a [Way] changes. The zero value is invalid.
type WayKind uint8

const (
	// WayTime: wait. At.
	WayTime WayKind = 1 + iota
	// WayPriority: a higher priority of the group or pod. Priority.
	WayPriority
	// WayMinCount: fewer pods must have a place. MinCount.
	WayMinCount
	// WayCapacity: a node gets more capacity. Node, Capacity.
	WayCapacity
	// WayPolicy: the priority class may preempt (PreemptLowerPriority).
	WayPolicy
)

// Way is one change that makes a request succeed, as a new decision has confirmed. Nothing else is changed. It is the
// smallest of its kind: with one unit less (a nanosecond, a priority, a pod, a unit of one resource) the request does
// not succeed. The zero value is invalid.
type Way struct {
	Kind WayKind `json:"kind"`
	// At is, for WayTime, the first instant at which the request succeeds.
	At time.Time `json:"at,omitzero"`
	// Priority is, for WayPriority, the new priority.
	Priority int32 `json:"priority,omitempty"`
	// MinCount is, for WayMinCount, the new number of pods that must have a place.
	MinCount int `json:"minCount,omitempty"`
	// Node and Capacity are, for WayCapacity, a node and what is added to its capacity.
	Node     string             `json:"node,omitempty"`
	Capacity workload.Resources `json:"capacity,omitempty"`
	// Outcome is that of the decision after the change: Fits or Preempt, then with Victims victims.
	Outcome preemption.Outcome `json:"outcome"`
	Victims int                `json:"victims,omitempty"`
	// Least: no smaller change of this kind succeeds, and not only the one that is a unit less. A search may fail
	// with more of what helps, so this is known only if all smaller changes were tried.
	Least bool `json:"least,omitempty"`
}
