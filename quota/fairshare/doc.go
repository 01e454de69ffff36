// Package fairshare divides a cluster among a tree of queues, as KAI-Scheduler does: what each queue
// is entitled to of each resource, by its quota, by the requests of all and by weights. (The share
// of package quota is another idea: how much of what can be lent a queue borrows.)
//
//	gpus := []fairshare.Resource{{Name: "gpu", Total: 8}}
//	queues := []fairshare.Queue{
//		{Name: "a", Claims: []fairshare.Claim{{Resource: "gpu", OverQuotaWeight: 3, Request: 8}}},
//		{Name: "b", Claims: []fairshare.Claim{{Resource: "gpu", OverQuotaWeight: 1, Request: 8, Usage: 8}}},
//	}
//	shares, err := fairshare.Divide(fairshare.Tree{Resources: gpus, Queues: queues}) // a: 6, b: 2 and over by 6
//
// A queue may have both pods and queues below it. Its request is what all pods in it and below it
// request, those that run and those that wait. Its requestable amount is the smaller of its request
// and its limit. The queues without a parent divide the totals, and the children of a queue divide
// its share. Siblings divide an amount of each resource in three steps:
//
//  1. Each gets the smaller of its quota and its requestable amount. Unlimited quota counts as the
//     whole amount. If these parts add up to the amount or more, nothing else is given.
//  2. The queues of the highest priority divide what is left by their weights, in rounds. Each part
//     is rounded down to whole units; a queue that wants no more than its part gets what it wants.
//     If some queue wants less than its part, what is left is divided again. Then the next priority
//     follows.
//  3. What rounding left goes in single units to the queues whose parts were rounded down, one unit
//     to each: higher priorities first, then larger fractions, older queues, smaller names. By such
//     a unit a share may exceed what is requestable.
//
// Past usage lowers a part. If n is the queue's weight divided by the sum of weights of those that
// want more, its part is in proportion to n + KValue × (n − PastUsage), and zero if that is negative.
//
// A [Division] is a tree with its shares. It follows an edit of a queue and divides anew only what that changes.
//
// A [Reclaim] has the rules by which a queue takes back what others hold over their shares: who may,
// from whom, and which victims. It searches for nobody, and knows no nodes and no minimum runtimes.
// Reclaimer and victim are compared by the two siblings of the tree that they are below.
//
// All arithmetic is exact, and a weight is the decimal number that is written: neither the order of
// the queues nor a rounding error decides. Amounts are those of package quota. The zero Tree is
// valid and divides nothing; a queue without a claim on a resource has the zero [Claim].
//
// An error lists all faults of a tree with their paths. A valid tree has none.
//
// Source of the rules: KAI-Scheduler, pkg/scheduler/plugins/proportion (commit d5bc503a).
package fairshare
