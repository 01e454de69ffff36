package trace

import (
	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
)

// Names turns the integers of a decision into names, while it is made and after it.
type Names struct {
	// Node names a queue or cohort, as `cohort "research"`.
	Node func(node int) string
	// QueueName is the plain name of a queue.
	QueueName func(node int) string
	// MinimumSetBy names what sets a minimum runtime: a node, "default" or "protection".
	MinimumSetBy func(node int) string
	// Slot returns the flavor and resource of a slot.
	Slot func(slot int) quota.FlavorResource
	// PodSet names a pod set of a running workload.
	PodSet func(workload string, podSet int) string
	// Needs lists what is requested in the flavors that are tried, in any order.
	Needs func() []Need
	// Taken lists the rules by which the candidate was taken that was taken last.
	Taken func(workload string) []ByRule
	// Groups lists the resource groups of the preemptor's queue, each with those of its first flavors
	// whose nodes the pods may use.
	Groups func(most int) []Group
	// Better says, after the decision, how a search made the victims better; nil: it was not asked to.
	Better func() *Better
	// Tier judges workloads by the preemptor's rules of a trigger; faults are its bad selectors, which leave it
	// without candidates.
	Tier func(rules.Trigger) (tier *selectors.Tier, faults []string)
}

// Need is what is requested in a column, and what is short of it with all victims still there, by
// the node of which the quota or limit is exceeded.
type Need struct {
	quota.FlavorResource
	Amount, Missing int64
	Node            string
}

// ByRule is a rule that accepts a candidate, and the indexes of its selectors that do.
type ByRule struct {
	Config, Rule string
	Trigger      rules.Trigger
	Selectors    []int
}

// Group is a resource group.
type Group struct{ Resources, Flavors []string }

// Better is how victims came from those of the search in order.
type Better struct {
	Before        []Unit
	Victims, Lost int64 // how many workloads Before is, and what they lose, if there is a cost
	Changes       []Change
	TooMany       bool // no others were looked for; nothing else is said then
}

// Change is a change of the victims, with what they come to then.
type Change struct {
	Taken, PutBack []Unit
	Victims, Lost  int64
}

// Unit is a workload that yields, or replicas of one of its pod sets.
type Unit struct {
	Workload, Queue, PodSet string
	Replicas                int64
	Leaving                 bool
}
