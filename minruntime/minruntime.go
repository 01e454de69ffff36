// Package minruntime has the settings of minimum runtimes: how long a workload runs before
// others of its queue may preempt it, and before other queues may reclaim its resources.
//
// Queues and cohorts have settings. One that is unset is inherited from the cohort above; if
// none is set there, the default of the preemptor counts. Zero is a setting: it protects
// no workload, and it is not inherited from above. Negative settings are errors where they are
// used (queue.Validate, preemption.New).
//
// Source of the rules: KAI's design "Guaranteed minimum runtime before preemptions and
// reclaims".
package minruntime

import (
	"github.com/cedesched/cede/quota"
)

// Settings are the settings of a queue or cohort. The zero value inherits both.
type Settings struct {
	// Preempt is the minimum runtime against workloads of the same queue.
	Preempt quota.OptionalDuration `json:"preempt,omitzero"`
	// Reclaim is the minimum runtime against workloads of other queues.
	Reclaim quota.OptionalDuration `json:"reclaim,omitzero"`
}

// Method says how the setting against a reclaim is resolved. The zero value is LCA.
type Method uint8

const (
	// LCA starts one step below the lowest common ancestor of both queues, on the victim's
	// side, and goes up. A setting on a subtree holds against its siblings; a setting inside
	// the subtree holds inside it. Queues with different roots count as under one common
	// root.
	LCA Method = iota
	// Queue starts at the victim's own queue and goes up.
	Queue
)
