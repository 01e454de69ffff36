// Package settle answers who must yield when no workload asks: usage is over what is allowed now. A quota
// or a limit was lowered, a flavor lost capacity, a lender takes its quota back, a queue left its cohort.
//
//	answer, err := settle.Decide(preemptor, snapshot, settle.Request{Now: now})
//	...
//	next, err := snapshot.With(answer.Edits()...)
//
// An admission cycle does not do this by itself: it gives nothing more to a queue that is over, and waits.
// What would have to leave after a change is asked of the snapshot with the change:
//
//	lowered, err := snapshot.With(preemption.SetQueue(q))
//	answer, err := settle.Decide(preemptor, lowered, settle.Request{Now: now})
//
// # The rules
//
// The excess of each column of each queue and cohort ([preemption.Snapshot.Excess]) is settled in turn: queues first, then cohorts,
// those farther from the root first; what left for one counts for those after it. So it goes on until nothing more leaves. What was
// told to leave before does not count as usage.
//
// The workloads of a queue that is over yield by lowest priority and newest first, whatever its policies say.
// Under a cohort that is over a queue gives only while it, and each cohort between, uses more of the column than its own quota: so
// no queue loses what is within its nominal quota, unless its own was lowered. The rest is as for any decision of
// the preemptor: the order of candidates, shares, surplus replicas, minimum runtimes ([minruntime.Settings]: of a queue that is over
// those against workloads of the same queue, under a cohort those against reclaims), guards, limits, workloads that never
// yield, inactive queues, the search and its cost. Gates do not matter. [Question] is the
// request that stands for an excess; it is decided about, explained and verified as any other.
//
// Nodes that lost capacity, and those that are to be empty, are a question to [github.com/cedesched/cede/preemption/moves.Clear].
//
// The zero Request lacks a time and is an error; with one it takes at least the excess, at once. Decide fails
// with preemption.Faults: what is wrong with the request, each with its path. Usage that may
// not leave now is no error: the answer says what remains, and when to ask again.
//
// Sources: Koordinator's quota overuse revoke (at least the excess, no victim in vain), YuniKorn's quota preemption
// (delays), KEP-83 (who may be reclaimed).
package settle
