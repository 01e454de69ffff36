// Package preemption decides which running workloads must yield so that a pending
// one fits.
//
// A [Snapshot] is what runs where, and the quotas. A [Preemptor] decides about one
// [Request] at a time:
//
//	snapshot, err := preemption.NewSnapshot(state)
//	preemptor, err := preemption.New(preemption.Config{})
//	decision, err := preemptor.Decide(snapshot, request)
//
// Nothing here talks to a cluster, evicts, logs or reads a clock. Same snapshot,
// same request: same decision, on every platform. The caller's duties:
//
//  1. Make a snapshot once ([NewSnapshot]) and keep it up to date with
//     [Snapshot.With] as workloads are admitted, evicted and gone. Snapshots are
//     immutable: any number of goroutines may decide on one.
//  2. Give the time in [Request.Now].
//  3. Act on the decision (evict, admit) and apply what was done as edits
//     ([Decision.Edits]). A decision changes nothing by itself.
//
// # Rules
//
// A workload may yield when every rule lets it: the policies of the preemptor's queue
// (KEP-83 "Workload preemption" and hierarchical cohorts as built in Kueue; among equals
// of one queue also minAdmitDuration, KEP-8522), its minimum runtime (KAI's design, see
// package minruntime), and the caller's own ([Guard]). Of an elastic workload the replicas
// over the minimum may go though its minimum runtime is not over; the minimum itself
// leaves as one, with the rest of the workload.
//
// A workload with a closed gate (KEP-8303, package gate) is decided about like any other,
// but nobody yields to it: where it would preempt, the outcome is Gated.
//
// # Order
//
// Candidates are taken in this order until the request fits; then each that turns out not
// to be needed is given back, latest first.
//
//  1. Workloads being evicted already, then the others.
//  2. Those reclaimed by hierarchical advantage (the request fits in the quota of a subtree
//     that they are not in), then those of other queues, then the preemptor's own queue.
//  3. In the own queue: those of lower priority; equals whose time is over, longest running
//     first; newer equals.
//  4. Lower effective priority first.
//  5. Of equal priority: the surplus replicas of elastic workloads one by one, then whole
//     workloads.
//  6. Later reservation first (a missing one counts as now), lower UID, lower ID; of one
//     workload the last pod set first.
//
// A decision is five steps, each a file of the search: candidates, rules, order, search,
// fit.
package preemption
