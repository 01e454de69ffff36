// Package preemption decides which running workloads must yield so that a pending
// one fits.
//
// A [Snapshot] holds what runs where, and the quotas. A [Preemptor] decides about one
// [Request] at a time:
//
//	snapshot, err := preemption.NewSnapshot(state)
//	preemptor, err := preemption.New(preemption.Config{})
//	decision, err := preemptor.Decide(snapshot, request)
//
// Nothing here talks to a cluster, evicts, logs or reads a clock. The same snapshot and the
// same request give the same decision on every platform. The caller's duties:
//
//  1. Make a snapshot once ([NewSnapshot]) and update it with [Snapshot.With] when
//     workloads are admitted, evicted or gone, or with [Snapshot.Sync] from a state.
//     Snapshots are immutable: any number of goroutines may decide on one. A decision
//     reads only the cohort tree of the request's queue: a snapshot of that tree alone,
//     with all flavors, decides the same.
//  2. Give the time in [Request.Now].
//  3. Act on the decision (evict, admit) and apply what was done as edits
//     ([Decision.Edits]). A decision changes nothing by itself. While its victims leave, ask
//     again with the flavors that it assigned ([Assignment.Pin]): assigned anew, others may
//     serve better by then, and somebody else would be told.
//
// # Rules
//
// A workload may yield if every rule permits it: the policies of the preemptor's queue
// (KEP-83 "Workload preemption" and hierarchical cohorts as built in Kueue; among equals of
// one queue also minAdmitDuration, KEP-8522), its minimum runtime (KAI's design, see package
// minruntime), and the guards of the caller ([Guard]). Replicas of an elastic workload above
// the minimum may be preempted even during the minimum runtime; the minimum itself leaves
// only with the whole workload. For a workload that was already told to stop the minimum
// runtime no longer counts. If all that was told to stop is enough, it is awaited: then the
// policies are asked, but no guard, and not whether its queue still borrows.
//
// A workload with a closed gate (KEP-8303, package gate) is decided about like any other, but
// no workload yields to it: where it would preempt, the outcome is Gated.
//
// # Order
//
// Candidates become victims in this order until the request fits. Then each victim that is
// not needed is put back, the latest first (Kueue calls this fill back, kube-scheduler
// reprieve).
//
//  1. Workloads that are being evicted before all others.
//  2. Workloads reclaimed by hierarchical advantage (the request fits in the quota of
//     a subtree that they are not in), then those of other queues, then those of the
//     preemptor's own queue.
//  3. In the own queue: lower priority; then equals whose time is over, longest running
//     first; then newer equals.
//  4. Lower effective priority first.
//  5. At equal priority: surplus replicas of elastic workloads one by one, then whole
//     workloads.
//  6. Later reservation first (a missing one counts as now), lower UID, lower ID; in a
//     workload the last pod set first, but of replicas that leave already the first.
//
// With [Request.LocalQueueUsage] the candidates of each queue come by the usage of their local
// queues, the highest first, before steps 3 to 6. The queues of one class are merged: of their
// next candidates the one that steps 3 to 6 put first. Whom the attempt does not permit is none.
//
// # Attempts
//
// In classical sharing there are up to two attempts, as in Kueue: in one the request may take its
// queue over its nominal quota, in the other it may not. The first that finds victims is the
// answer, even if the other one would need fewer.
//
//  1. With a policy of borrowWithinCohort: first the one that may, then the other.
//  2. Without, only the one that may: if the queue uses its nominal quota or more in something
//     that needs preemption, or if no other queue has candidates.
//  3. Without, otherwise: first the one that may not, if no candidate comes by hierarchical
//     advantage; else first the one that may.
//
// In fair sharing there is one, which may; with [Compat] PreemptWithinNominal one, which may not.
//
// # Fair sharing
//
// With [Config.Sharing] Fair the shares decide who of other queues yields, not the classes of
// step 2 and not borrowWithinCohort (as built in Kueue). The share of a queue or cohort is
// what it borrows of its dominant resource divided by what its cohort could lend
// ([quota.Share]). The request counts in the share of the preemptor's queue and of the
// cohorts above it.
//
//  1. From the root down choose the child with the largest share, until a queue is
//     reached. Skip children that borrow nothing, except the preemptor's queue and the
//     cohorts above it, and queues without candidates. Ties: a cohort before a queue.
//     Of two queues the one whose next candidate is being evicted, then the one that is
//     not the preemptor's, then by steps 4 to 6 above. Of two cohorts the one whose
//     first workload is being evicted, then by steps 4 and 6, then the smaller name;
//     the first workload is taken from all that ever yield and use something,
//     candidates or not, in borrowing queues under borrowing cohorts: in these a column
//     without an entry counts, too; replicas that were told to leave are one that is
//     being evicted. (Kueue chooses any of the cohorts.)
//  2. Try the next candidate of that queue, in the order of steps 1 and 3 to 6. A
//     candidate in the preemptor's own queue becomes a victim. A candidate of another
//     queue does if the preemptor's queue stays within its nominal quota, or if the
//     first strategy permits it ([FairStrategy]). If not, try the next one of the queue.
//  3. When no candidate is left, the first candidate of each queue that failed is tried
//     once more by the second strategy, if there is one. Replicas that have gone with
//     their workload since are no candidate.
//  4. Then victims that are not needed are put back, the latest first.
//
// # Flavors
//
// Requests without flavor are first assigned one, as in Kueue's flavor assigner as built: for
// each pod set in turn, for each of its resource groups ([queue.Queue.ResourceGroups]), the
// flavors are tried in order. The requests of earlier pod sets count, and requests that came
// with a flavor count before all others. In a flavor each resource alone
//
//  1. does not fit if it is more than the queue could use with nothing running;
//  2. fits if it is no more than what is available, at the height of the lowest
//     subtree whose quota holds it;
//  3. is forecast ([Preemptor.Forecast]) if it is within the queue's nominal quota, or
//     a subtree smaller than the whole tree has quota for it, or the queue may preempt
//     while borrowing. The forecast says what would yield: nothing, workloads of the own
//     queue, or workloads of other queues only;
//  4. does not fit otherwise, nor, but for a request of zero, in a flavor for which the queue has no quota.
//
// A flavor is judged by its worst resource. A flavor without candidates is skipped. A flavor
// that needs preemption or borrowing is skipped if the queue's [queue.FlavorFungibility] says
// so. The first flavor that is not skipped is assigned; if all are skipped, the best. A
// workload that never preempts skips all flavors that need preemption. If no flavor of some
// group fits, the request is impossible. Otherwise the request is decided with these flavors;
// what is possible for each resource alone may be impossible for all together.
//
// A decision has five steps, each a file of the search: candidates, rules, order, search,
// fit. The assignment comes before them.
//
// # Zero values and errors
//
// The zero Config is valid: Kueue's rules, classical sharing. The zero policies of a queue evict
// no workload. The zero Outcome is invalid, so a decision that was not made is not mistaken for
// one. An error about an input is Faults: everything that is wrong, each with its path
// (queues[2].quotas[0].nominal); nothing panics. A method that fails returns its receiver, or a
// zero value.
package preemption
