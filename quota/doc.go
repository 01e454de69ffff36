// Package quota has the amounts, quotas and limits of the quota tree, and the shares of fair
// sharing.
//
// A quota tree has cohorts as inner nodes and queues as leaves. Each node may have a nominal
// quota, a limit on what it borrows from its parent and a limit on what it lends. All numbers are
// kept per column: one resource of one flavor ([FlavorResource]).
//
//	gpus := quota.Quota{Flavor: "h100", Resource: "gpu", Nominal: 8, BorrowingLimit: quota.AtMost(4)}
//
// Amounts are int64: milli-CPU for cpu, base units (bytes, devices) for everything else. Sums
// saturate and never wrap ([Add], [Sub], [Mul]); [Unlimited] absorbs. A limit is an [Optional]:
// its zero value is unset, which is another thing than zero. The zero [Quota] is a column without
// quota, which may be borrowed.
//
// Nothing here fails but reading JSON, with an error that names the text. Whether a quota is valid
// is what queue.Validate says: a negative amount, a limit where there is no cohort.
//
// Source of the rules: KEP-83 "Workload preemption"; where the KEP is silent, hierarchical cohorts
// as built in Kueue.
package quota
