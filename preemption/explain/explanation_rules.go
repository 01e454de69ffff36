package explain

import (
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
)

// ExplainedRules says what the rules of the preemptor's queue say.
type ExplainedRules struct {
	// Config is the name of the rules, and Alone says that the policies of the queue play no part
	// ([preemption.Config.RulesAlone]).
	Config string `json:"config"`
	Alone  bool   `json:"alone,omitempty"`
	// Tiers are the tiers in order. Empty: they were not looked at, because the request fits, the
	// policies suffice, or nothing can suffice.
	Tiers []ExplainedTier `json:"tiers,omitempty"`
}

// ExplainedTier is the rules of one trigger.
type ExplainedTier struct {
	Trigger rules.Trigger `json:"trigger"`
	// Holds: the trigger holds, so that the rules were looked at. Since is since when it has been
	// observed. If it does not hold, nothing below is set.
	Holds bool      `json:"holds,omitempty"`
	Since time.Time `json:"since,omitzero"`
	// Faults lists bad selectors: then the tier, and later ones, permit no workload.
	Faults []string `json:"faults,omitempty"`
	// MayYield counts the workloads that some selector accepts now and that nothing keeps, without
	// those taken before. Kept counts those that some selector accepts now and that are kept, by
	// what keeps them: a minimum runtime, a guard, that they never yield; rule zero: they use
	// nothing of what needs preemption.
	MayYield Counted                 `json:"mayYield,omitzero"`
	Kept     []Kept[preemption.Rule] `json:"kept,omitempty"`
	// Rules are the rules with the trigger.
	Rules []ExplainedRule `json:"rules,omitempty"`
}

// ExplainedRule is a rule of a tier.
type ExplainedRule struct {
	Rule string `json:"rule"`
	// OfOthers: its preemptor selectors do not select the workload; its selectors are not looked at.
	OfOthers  bool                `json:"ofOthers,omitempty"`
	Selectors []ExplainedSelector `json:"selectors,omitempty"`
}

// ExplainedSelector counts the running workloads of all queues by what a selector says of them when
// the tier begins: constraints on quota are judged with those taken before gone.
type ExplainedSelector struct {
	Accepts Counted            `json:"accepts,omitzero"`
	Refuses []ExplainedRefusal `json:"refuses,omitempty"`
}

// ExplainedRefusal counts those that one part of a selector is the first to refuse.
type ExplainedRefusal struct {
	Part rules.Part `json:"part"`
	Counted
	// From and Until are the first and the last instant at which time alone lets the selector
	// accept one of them. Zero: at none.
	From  time.Time `json:"from,omitzero"`
	Until time.Time `json:"until,omitzero"`
}
