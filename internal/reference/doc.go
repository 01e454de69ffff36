// Package reference decides as package preemption does, slowly and in plain sight. Tests compare decisions with
// it, and package verify judges by it. It is written from the designs, has its own arithmetic of the quota tree,
// and knows nothing of what decides: it collects and sorts all candidates before it takes the first one.
//
// One file holds one rule, and types hold them in layers: each asks only the layers below it. To read them in this order
// is to read the designs:
//
//   - question.go: the request, the state, and what a search asks of them
//   - tree.go: the quota tree and usage
//   - running.go, candidate.go: what runs, what of it leaves already, and what a search has taken
//   - time.go, limits.go: minimum runtimes, protections, guards; limits on preemptions in a window
//   - right.go: by which right a workload may yield: in the own queue, or reclaimed from another one
//   - order.go: the candidates in order
//   - share.go, fair.go, stable.go: dominant shares, which queue is next, the strategies, and which victims would take
//     their places back
//   - search.go: take candidates until the request fits, then put back
//   - selectors.go, tiers.go, constraints.go: rules of an operator
//   - decide.go, shortage.go, blockers.go, rule_sums.go: the decision, or what is short and what stands in the way
//   - when.go: the first instant at which time alone helps
//   - sets.go: every set of candidates, with every order
//   - flavors.go, eligible.go: which flavor
package reference
