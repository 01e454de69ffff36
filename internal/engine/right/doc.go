// Package right says whether a running workload may yield for a request: by which right, or which
// rule keeps it, and until when. Every other package of the engine asks it: the order of
// candidates, the search, the blockers, RetryAt, traces and explanations.
//
// A right has three layers. The first that says no is the verdict.
//
//  1. The class of the donor (levels.go, policy.go): what the preemptor's policies permit in its
//     own queue and in the queues under each cohort above. The answer is a range of priorities
//     ([Permission]), which is a range of the index of a queue: no workload is looked at.
//  2. The donor (borrows.go, runtime.go): a queue of another branch gives only while it, and each
//     cohort below the common one, borrows. Its guarantee is found once for each donor.
//  3. The workload ([Case.Verdict]): an equal must be newer or its time over (equals.go); minimum
//     runtime (runtime.go), guards, workloads that never yield, stable sharing (stable.go).
//     Limits on preemptions come last (limits.go): they count the victims taken before.
//
// A [Case] is a request at one instant, with the victims taken so far. The functions change no
// usage.
package right
