// Package packing finds the best units to remove so that pods have room on the nodes of one domain, by branch and
// bound.
//
// The pods may be spread over the nodes in any way, and any units may yield. Both questions fall apart by node. What
// is cheapest to remove from one node for some pods there is a small covering problem (cover.go, least.go; its bound
// is that of package lagrange). A table over the nodes then spreads the pods, so that the sum is least (table.go).
// Two things tie nodes together: a unit with pods on several of them, and a budget that must not be violated. Without
// regard to these the sum is a lower bound, and the search divides by whether one unit that matters yields
// (branch.go). The parts of the score that are no sums, the highest priority and the earliest start, are settled by
// leaving units out (solve.go).
package packing
