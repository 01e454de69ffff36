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
// leaves as one, with the rest of the workload. One that was told to stop already has no
// minimum runtime any more; the other rules hold for it too.
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
// # Fair sharing
//
// With [Config.Sharing] Fair the shares say who of other queues yields, not the classes
// and not borrowWithinCohort (facts of Kueue as built). The share of a queue or cohort is
// what it borrows of its dominant resource over what its cohort could lend
// ([quota.Share]); that of the preemptor's queue, and of the cohorts over it, counts the
// request.
//
//  1. It is the turn of the child of the root with the largest share, of its child with the
//     largest share, and so on down to a queue. Out are those that borrow nothing, but for
//     the preemptor's queue and the cohorts over it, and queues without candidates. Of
//     equal shares: a cohort before a queue; of two queues the one whose next candidate is
//     evicted already, then the other than the preemptor's, then by steps 4 to 6 above; of
//     two cohorts the one whose first workload is evicted already, then by steps 4 and 6,
//     then the lesser name. The first is that of all workloads of the snapshot, candidates
//     or not, in queues that borrow, under cohorts that do. (Kueue takes, of cohorts, any.)
//  2. Of that queue the next candidate is tried, in the order of steps 1 and 3 to 6. One in
//     the preemptor's own queue is taken; of another queue it is taken if the preemptor's
//     queue stays within its nominal quota, or if the first strategy permits it
//     ([FairStrategy]). If not, the next one of the queue is tried.
//  3. When nobody is left, the first of each queue that failed gets one more chance, by the
//     second strategy, where there is one.
//  4. Then those that are not needed are given back, latest first.
//
// # Flavors
//
// Requests without flavor are assigned one before that, as Kueue's flavor assigner does it
// as built. For each pod set in turn, for each of its resource groups ([queue.Queue.ResourceGroups])
// the flavors are tried in order. What earlier pod sets take of a flavor counts, and what
// came with a flavor counts before all. Each resource by itself
//
//  1. does not fit if it is more than the queue could use with nothing running;
//  2. fits if it is no more than what is available, at the height of the lowest subtree
//     whose quota holds it;
//  3. is forecast ([Preemptor.Forecast]) if it is within the queue's nominal quota, or a
//     subtree short of the whole tree has quota for it, or the queue may preempt while
//     borrowing: nobody may yield, somebody in the own queue, or others only;
//  4. does not fit otherwise, nor in a flavor of which the queue has no quota for it.
//
// A flavor does as its worst resource. One that has nobody to preempt is passed, and so,
// as the queue's [queue.FlavorFungibility] has it, is one that needs preemption or
// borrowing; the first that is not is taken, or when there is none the best of all. A
// workload that never preempts passes all that need it. When no flavor of some group fits
// the request is impossible. Otherwise it is decided as if it had come with the flavors:
// what each resource would have by itself all of them together may not.
//
// A decision is five steps, each a file of the search: candidates, rules, order, search,
// fit. The assignment, if any, comes before them.
package preemption
