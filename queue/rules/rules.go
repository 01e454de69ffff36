package rules

import (
	"slices"

	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Limits of a configuration, as upstream has them.
const (
	MaxRules     = 64 // of a configuration
	MaxSelectors = 32 // of a rule
)

// Config is a named list of rules (Kueue's PreemptionConfig). The zero value is not valid: a
// configuration has a name. Its JSON form is the name with what upstream's object has in spec.
type Config struct {
	// Name is unique among the configurations; queue.Queue.Rules refers to it.
	Name string `json:"name"`
	// Rules are at most [MaxRules]. Empty: the rules permit no victims.
	Rules []Rule `json:"rules,omitempty"`
	// Ordering is the order in which a tier takes candidates, the first key first, after those that
	// are being evicted; UID and ID come last. Empty: IsOtherCQ descending, Priority ascending,
	// AdmissionTimestamp descending, as today. Any other order sorts all workloads in reach.
	Ordering []Ordering `json:"ordering,omitempty"`
}

// Rule says which running workloads some waiting ones may preempt, and in which case. The
// zero value is not valid.
type Rule struct {
	// Name is a DNS label, unique in the configuration.
	Name string `json:"name"`
	// PreemptorSelector selects the waiting workloads that the rule serves, by their labels.
	// Nil: all.
	PreemptorSelector *workload.LabelSelector `json:"preemptorSelector,omitempty"`
	// PreemptorPriorityClass selects them by the name of their priority class. The zero value
	// is all.
	PreemptorPriorityClass ClassSelector `json:"preemptorPriorityClassSelector,omitzero"`
	// ActivationPolicy says in which case the rule is looked at.
	ActivationPolicy ActivationPolicy `json:"activationPolicy"`
	// CandidateSelectors are at most [MaxSelectors]. A running workload is a candidate if one
	// of them accepts it. Empty: none is.
	CandidateSelectors []CandidateSelector `json:"candidateSelectors,omitempty"`
}

// ActivationPolicy says in which case a rule is looked at. The zero value is not valid.
type ActivationPolicy struct {
	Trigger Trigger `json:"trigger"`
	// MinTriggerRequiredDuration is how long the trigger must have been observed, without a break,
	// before the rule is looked at; strictly longer than that. Unset or zero: it need not.
	MinTriggerRequiredDuration quota.OptionalDuration `json:"minTriggerRequiredDuration,omitzero"`
}

// Trigger is a case in which rules are looked at. The rules of one trigger are a tier; tiers
// come in the order of the constants, each if those before it were not enough. The empty value
// is not valid. A trigger that this version does not know is read and is reported by
// [Validate]: its rule is in no tier.
type Trigger string

const (
	// Always: the rule is looked at whenever a workload must yield.
	Always Trigger = "Always"
	// InsufficientQuota: the quota does not suffice without those found so far.
	InsufficientQuota Trigger = "InsufficientQuota"
	// QuotaFeasibleAndInsufficientTopology: the quota suffices without those found so far, but
	// there is no place.
	QuotaFeasibleAndInsufficientTopology Trigger = "QuotaFeasibleAndInsufficientTopology"
)

// Triggers returns the triggers in the order of their tiers.
func Triggers() []Trigger {
	return []Trigger{Always, InsufficientQuota, QuotaFeasibleAndInsufficientTopology}
}

// CandidateSelector accepts a running workload if all its parts do. The zero value is not
// valid: a selector has a scope.
type CandidateSelector struct {
	// Scope says in which queues the candidate may run.
	Scope Scope `json:"scope"`
	// ClusterQueueSelector selects the candidate's queue by its labels. Nil: any queue.
	ClusterQueueSelector *workload.LabelSelector `json:"clusterQueueSelector,omitempty"`
	// LabelSelector selects the candidate by its labels. Nil: any.
	LabelSelector *workload.LabelSelector `json:"labelSelector,omitempty"`
	// NumericLabels must all hold for labels of the candidate.
	NumericLabels []NumericLabel `json:"numericLabels,omitempty"`
	// Priority must hold for the priority of the candidate. The zero value always holds.
	Priority Priority `json:"priority,omitzero"`
	// Time must hold for the times of the candidate. The zero value always holds.
	Time Times `json:"time,omitzero"`
	// Quota must hold when the candidate is taken. Empty: it always holds.
	Quota QuotaConstraint `json:"quota,omitempty"`
}

// Scope says in which queues candidates run, seen from the preemptor's queue. The empty value
// is not valid. A scope that this version does not know is read, as a bad selector; see [Validate].
type Scope string

const (
	// WithinLocalQueue: the candidate was submitted to the same local queue, and runs in the
	// same queue. A workload without local queue has no such candidate.
	WithinLocalQueue Scope = "WithinLocalQueue"
	// WithinClusterQueue: the own queue.
	WithinClusterQueue Scope = "WithinClusterQueue"
	// WithinParentCohort: the queues that are members of the own queue's cohort, not those of
	// its child cohorts; without cohort the own queue.
	WithinParentCohort Scope = "WithinParentCohort"
	// WithinCohortTree: all queues under the same root cohort; without cohort the own queue.
	WithinCohortTree Scope = "WithinCohortTree"
	// AnyClusterQueue: every queue, also of another tree, also one within its nominal quota.
	AnyClusterQueue Scope = "AnyClusterQueue"
	// These are the same without the own queue (planned in Kueue; the names are ours).
	OtherInParentCohort Scope = "OtherInParentCohort"
	OtherInCohortTree   Scope = "OtherInCohortTree"
	OtherClusterQueue   Scope = "OtherClusterQueue"
)

// Scopes returns all scopes.
func Scopes() []Scope {
	return []Scope{
		WithinLocalQueue, WithinClusterQueue, WithinParentCohort, WithinCohortTree, AnyClusterQueue,
		OtherInParentCohort, OtherInCohortTree, OtherClusterQueue,
	}
}

// NumericLabel requires that a label holds a number, compares it with the preemptor's, and
// bounds it. The zero value is not valid: it has a key. A label value that is no decimal
// integer of 32 bits counts as missing.
type NumericLabel struct {
	Key string `json:"key"`
	// Fallback is the value of workloads without the label, of the preemptor, too; of 32 bits.
	// Unset: such a candidate is refused, and such a preemptor has no candidate if there is a
	// Comparison.
	Fallback quota.OptionalInt64 `json:"fallbackValue,omitzero"`
	// Comparison is that of the candidate's value with the preemptor's. Empty: none.
	Comparison Comparison `json:"comparison,omitempty"`
	// MinValue and MaxValue bound the candidate's value; of 32 bits. Unset: no bound.
	MinValue quota.OptionalInt64 `json:"minValue,omitzero"`
	MaxValue quota.OptionalInt64 `json:"maxValue,omitzero"`
}

// Priority compares the candidate's priority with the preemptor's, and selects it by the name
// of its priority class. The zero value accepts every workload.
type Priority struct {
	// Mode says which priorities are compared. It is set if and only if Comparison is.
	Mode       PriorityMode `json:"mode,omitempty"`
	Comparison Comparison   `json:"comparison,omitempty"`
	// MinValue and MaxValue bound the candidate's priority: with the mode Base its base priority,
	// else the effective one. Unset: no bound. (Ours; not in Kueue.)
	MinValue quota.OptionalInt64 `json:"minValue,omitzero"`
	MaxValue quota.OptionalInt64 `json:"maxValue,omitzero"`
	ClassSelector
}

// PriorityMode says which priorities are compared. Empty: none.
type PriorityMode string

const (
	// Base: workload.Workload.Priority.
	Base PriorityMode = "Base"
	// Boosted: the effective priority, with the boost.
	Boosted PriorityMode = "Boosted"
)

// ClassSelector selects workloads by the name of their priority class. Both parts must hold.
// The zero value selects all.
type ClassSelector struct {
	// MatchNames lists the names that are selected. Empty: any, and workloads without a class.
	MatchNames []string `json:"matchNames,omitempty"`
	// NotMatchNames lists the names that are not selected. Workloads without a class are.
	NotMatchNames []string `json:"notMatchNames,omitempty"`
}

// Comparison relates a candidate's value to the preemptor's. Empty: they are not compared.
type Comparison string

const (
	LessThan           Comparison = "LessThan"
	LessThanOrEqual    Comparison = "LessThanOrEqual"
	GreaterThan        Comparison = "GreaterThan"
	GreaterThanOrEqual Comparison = "GreaterThanOrEqual"
)

// Holds reports whether the candidate's value is so related to the preemptor's. An empty
// comparison always holds, an unknown one never does.
func (c Comparison) Holds(candidate, preemptor int64) bool {
	switch c {
	case "":
		return true
	case LessThan:
		return candidate < preemptor
	case LessThanOrEqual:
		return candidate <= preemptor
	case GreaterThan:
		return candidate > preemptor
	case GreaterThanOrEqual:
		return candidate >= preemptor
	}
	return false
}

// IsZero reports whether the selector selects all.
func (s ClassSelector) IsZero() bool { return len(s.MatchNames)+len(s.NotMatchNames) == 0 }

// IsZero reports whether the priority accepts every workload.
func (p Priority) IsZero() bool {
	return p.Mode == "" && p.Comparison == "" && p.MinValue == quota.OptionalInt64{} && p.MaxValue == quota.OptionalInt64{} && p.ClassSelector.IsZero()
}

// Clone returns a copy that shares nothing with c.
func (c Config) Clone() Config {
	c.Rules, c.Ordering = slices.Clone(c.Rules), slices.Clone(c.Ordering)
	for i := range c.Rules {
		r := &c.Rules[i]
		r.PreemptorSelector = r.PreemptorSelector.Clone()
		r.PreemptorPriorityClass = r.PreemptorPriorityClass.clone()
		r.CandidateSelectors = slices.Clone(r.CandidateSelectors)
		for j := range r.CandidateSelectors {
			s := &r.CandidateSelectors[j]
			s.ClusterQueueSelector, s.LabelSelector = s.ClusterQueueSelector.Clone(), s.LabelSelector.Clone()
			s.NumericLabels = slices.Clone(s.NumericLabels)
			s.Priority.ClassSelector = s.Priority.ClassSelector.clone()
		}
	}
	return c
}

func (s ClassSelector) clone() ClassSelector {
	return ClassSelector{slices.Clone(s.MatchNames), slices.Clone(s.NotMatchNames)}
}
