// Package quota holds amounts, limits and the arithmetic of the quota tree.
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
// The arithmetic has a fixed side, [Tree] (shape and quotas), and a moving side,
// [Usage] (what runs). Both are immutable. The package knows no workloads and no
// policies.
//
// Source of the rules: KEP-83 "Workload preemption", and hierarchical cohorts as
// built in Kueue where the KEP is silent.
package quota
