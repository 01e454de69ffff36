package explain

import (
	"time"

	"github.com/cedesched/cede/preemption/placement"
)

// PlacementExplanation says how a decision about nodes came about, and what would change it; see [ExplainPlacement]. It is plain data:
// its JSON form round-trips. Lists are short, whatever the cluster holds; numbers are exact. The zero value is
// invalid.
type PlacementExplanation struct {
	Question PlacementQuestion `json:"question"`
	// Decision is the one that [placement.Preemptor.Decide] makes.
	Decision placement.Decision `json:"decision"`
	// MayYield counts the units in the cluster that no rule keeps from yielding, if the request does not fit. Whether
	// they do depends on where they run, and on budgets.
	MayYield Counted `json:"mayYield,omitzero"`
	// Kept counts the others, by rule.
	Kept []Kept[placement.Rule] `json:"kept,omitempty"`
	// Domains says how the search for victims went in the first domains, in order, and in the one that was chosen.
	// Searched counts all that were searched: each time, if a domain is searched twice for the budgets, or for each
	// pod of a Basic group. Skipped counts domains that cannot be better than the best domain before them, by the
	// sums of their nodes.
	Domains  []ExplainedDomain `json:"domains,omitempty"`
	Searched int64             `json:"searched,omitempty"`
	Skipped  int64             `json:"skipped,omitempty"`
	// These count the searched domains by result: no unit there may yield; too little room without all units that may
	// yield; room only by violating a budget; room once the victims are gone.
	NoVictims   Counted `json:"noVictims,omitzero"`
	NoRoom      Counted `json:"noRoom,omitzero"`
	BudgetsBar  Counted `json:"budgetsBar,omitzero"`
	WithVictims Counted `json:"withVictims,omitzero"`
	// Instants is the number of instants that were tried for [placement.Decision.RetryAt].
	Instants int64 `json:"instants,omitempty"`
	// Ways are changes that make the request succeed, each the smallest of its kind. Empty if it succeeds, or if
	// nothing of what is tried helps.
	Ways []Way `json:"ways,omitempty"`
}

// PlacementQuestion is what was asked.
type PlacementQuestion struct {
	// Group is the pending group; empty for a single pod. Pod is the first pod, Pods their number, MinCount how many
	// must have a place.
	Group    string `json:"group,omitempty"`
	Pod      string `json:"pod"`
	Pods     int    `json:"pods"`
	MinCount int    `json:"minCount,omitempty"`
	// MinGroups is how many of the groups directly below it must get what they need, Nested what groups below it need.
	MinGroups int                     `json:"minGroups,omitempty"`
	Nested    []placement.NestedGroup `json:"nested,omitempty"`
	Priority  int32                   `json:"priority,omitempty"`
	Now       time.Time               `json:"now,omitzero"`
}

// ExplainedDomain is the search for victims in one domain.
type ExplainedDomain struct {
	// Name is the name of the domain; empty: the whole cluster, or all domains together if they are only preferred.
	Name string `json:"name,omitempty"`
	// WithinBudgets: it is the second search, in which units stay so that no budget is violated.
	WithinBudgets bool `json:"withinBudgets,omitempty"`
	// Placed is the number of pods that have a place without all units that may yield; Needed is how many must have
	// one.
	Placed int64 `json:"placed,omitempty"`
	Needed int64 `json:"needed,omitempty"`
	// OverBudget counts the units that are put back first, because they violate a budget. In a large domain these are
	// the units on nodes of the placed pods; the others stay without a look at each.
	OverBudget Counted `json:"overBudget,omitzero"`
	// PutBack counts the units that were put back because the pods keep their room.
	PutBack Counted `json:"putBack,omitzero"`
	// Victims is the number of victims, Violations the number of pods evicted against a budget, Highest the highest
	// priority of a victim.
	Victims    int64 `json:"victims,omitempty"`
	Violations int   `json:"violations,omitempty"`
	Highest    int32 `json:"highest,omitempty"`
	// Reason says why there is no place. Zero: there is.
	Reason placement.Reason `json:"reason,omitzero"`
	// Chosen: it is the domain of the answer.
	Chosen bool `json:"chosen,omitempty"`
}
