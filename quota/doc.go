// Package quota has the amounts, quotas and limits of the quota tree, and the shares of
// fair sharing.
//
// A quota tree has cohorts as inner nodes and queues as leaves. Each node may
// have quota of its own, a bound on what it borrows from its parent and a bound
// on what it lends. All numbers are kept per column: a column is one resource of
// one flavor ([FlavorResource]).
//
// Amounts are int64: cpu in milli-CPU, everything else in base units (bytes,
// devices). Sums saturate and never wrap; [Unlimited] absorbs what is added to or
// taken from it.
//
// Source of the rules: KEP-83 "Workload preemption", and hierarchical cohorts as
// built in Kueue where the KEP is silent.
package quota
