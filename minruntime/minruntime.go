// Package minruntime has the settings of minimum runtimes: how long a workload runs before others
// of its queue may preempt it, and before other queues may reclaim its resources.
//
//	q.MinRuntime = minruntime.Settings{Preempt: quota.Some(10 * time.Minute), Reclaim: quota.Some(time.Hour)}
//
// Queues and cohorts have [Settings]. One that is unset, as both are in the zero value, is
// inherited from the cohort above; if none is set there, the default of the preemptor counts
// (preemption.Config.MinRuntime). Zero is a setting: it protects no workload, and it is not
// inherited from above. [Protection] protects all workloads alike, by the kind of preemption.
//
// A workload is protected until its minimum runtime is over, and yields strictly after that; a
// decision that has to wait for it says so (RetryAt). Surplus replicas of an elastic workload may
// go at any time. [Method] says where the search for a setting against a reclaim begins.
//
// Negative settings are errors where they are used: preemption.Faults of queue.Validate or
// preemption.New.
//
// Source of the rules: KAI's design "Guaranteed minimum runtime before preemptions and reclaims";
// of Protection KEP-9876.
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

// Defaults are the settings where no queue or cohort has one. The zero value protects no workload.
type Defaults struct {
	// Preempt and Reclaim are as in [Settings]. Unset is zero.
	Preempt quota.OptionalDuration `json:"preempt,omitzero"`
	Reclaim quota.OptionalDuration `json:"reclaim,omitzero"`
	// Method says how the setting against a reclaim is found in the tree, for all queues.
	Method Method `json:"method,omitzero"`
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
