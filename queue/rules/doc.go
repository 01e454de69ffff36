// Package rules holds preemption rules as data (Kueue's configurable preemption, KEP-13396,
// v1alpha1). Rules come after the policies of the queues, when these do not suffice: "training may
// evict notebooks of any queue that carry the label idle, the largest first".
//
//	err := rules.Validate(configs) // all faults, each with its path
//
// Package preemption decides by policies and rules: preemption.State.Rules holds them, and
// queue.Queue.Rules refers to them. A scheduler that decides by itself asks
// preemption.Snapshot.RuleVerdicts which selectors of which rules accept a running workload as a
// candidate for a waiting one.
//
// A [Config] is a list of tiers with rules; a [Rule] says for which preemptor and when it counts
// (ActivationPolicy), and which running workloads it accepts ([CandidateSelector]). A part of a
// selector that is not set always holds; the zero selector is not valid, because it has no scope.
// A queue that names no configuration has no rules.
//
// A cluster may hold rules with faults: a bad selector leaves its rule out, and the decision names
// it (RuleFaults). Only what [ValidateForm] finds is refused by preemption.NewSnapshot.
//
// Source of the rules: KEP-13396; docs/designs/rules.md has what it leaves open.
package rules
