// Package rules holds preemption rules as data (Kueue's configurable preemption, KEP-13396,
// v1alpha1), and says whom they accept: an [Evaluator] tells which selectors of which rules
// accept a running workload as a candidate for a waiting one, and [Evaluator.Find] walks the
// tiers. Rules come after the policies of the queues, when these do not suffice.
//
// preemption.Preemptor.DecideByRules decides by policies and rules; other decisions do not read
// rules. A scheduler that decides by itself asks the evaluator.
package rules
