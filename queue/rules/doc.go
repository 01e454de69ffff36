// Package rules holds preemption rules as data (Kueue's configurable preemption, KEP-13396,
// v1alpha1). Rules come after the policies of the queues, when these do not suffice.
//
// Package preemption decides by policies and rules: preemption.State.Rules holds them, and
// queue.Queue.Rules refers to them. A scheduler that decides by itself asks
// preemption.Snapshot.RuleVerdicts which selectors of which rules accept a running workload as a
// candidate for a waiting one.
package rules
