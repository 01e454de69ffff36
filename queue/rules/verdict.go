package rules

import (
	"time"
)

// Part is a part of a selector, or of its rule, that refuses a running workload. Empty: none does.
type Part string

// The parts, in the order in which they are asked.
const (
	PartScope         Part = "scope"
	PartQueueLabels   Part = "clusterQueueSelector"
	PartLabels        Part = "labelSelector"
	PartPriority      Part = "priority"
	PartNumericLabels Part = "numericLabels"
	PartTime          Part = "time"
	// PartTrigger: the trigger of the rule has not been observed for long enough.
	PartTrigger Part = "minTriggerRequiredDuration"
	// PartQuota: the constraint on quota does not hold.
	PartQuota Part = "quota"
)

// Parts returns all parts, in the order in which they are asked.
func Parts() []Part {
	return []Part{PartScope, PartQueueLabels, PartLabels, PartPriority, PartNumericLabels, PartTime, PartTrigger, PartQuota}
}

// Verdict is what a selector says of a running workload. The zero value accepts, for the first selector
// of the first rule.
type Verdict struct {
	Match
	// Refuses is the first part that refuses the workload; empty: the selector accepts it.
	Refuses Part `json:"refuses,omitempty"`
	// From is, if time and trigger alone refuse it, the first instant after the moment at which the
	// selector accepts it if nothing else changes. Zero: there is none.
	From time.Time `json:"from,omitzero"`
}

// Match is a selector that accepts a candidate. The zero value is the first selector of the
// first rule.
type Match struct {
	// Rule is the index of the rule in its configuration.
	Rule int `json:"rule"`
	// Selector is the index of the selector in the rule.
	Selector int `json:"selector"`
}
