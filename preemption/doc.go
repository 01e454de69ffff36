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
// The rules are those of KEP-83 "Workload preemption" and of hierarchical cohorts
// as built in Kueue. A decision is five steps, each a file of the search:
// candidates, rules, order, search, fit.
package preemption
