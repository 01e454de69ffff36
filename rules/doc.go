// Package rules holds preemption rules as data (Kueue's configurable preemption, KEP-13396,
// v1alpha1), and says whom they accept: an [Evaluator] tells which selectors of which rules
// accept a running workload as a candidate for a waiting one, and [Evaluator.Find] walks the
// tiers. Rules come after the policies of the queues, when these do not suffice.
//
// Decisions of package preemption do not read rules yet. A scheduler that evaluates rules
// itself asks this package after a decision that finds nobody.
package rules
