// Package quota has the amounts, quotas and limits of the quota tree, and the shares of
// fair sharing.
//
// A quota tree has cohorts as inner nodes and queues as leaves. Each node may have a nominal
// quota, a limit on what it borrows from its parent and a limit on what it lends. All numbers
// are kept per column: one resource of one flavor ([FlavorResource]).
//
// Amounts are int64: milli-CPU for cpu, base units (bytes, devices) for everything else. Sums
// saturate and never wrap.
//
// Source of the rules: KEP-83 "Workload preemption"; where the KEP is silent, hierarchical
// cohorts as built in Kueue.
package quota
