// Package best improves the victims that the search takes in order: by exchanges, then by branch and bound to
// the best of all allowed sets, or by exchanges alone. A set is allowed if there is an order of removal in
// which each victim is permitted when only those before it are gone.
//
//   - problem.go: the units that may yield in an attempt, and what of them is alike
//   - caps.go: no more victims of any priority and right than the search in order takes, and none
//     over a limit on preemptions
//   - allowed.go, justified.go: whether an order of removal exists
//   - rows.go, relax.go: the rows of quota and caps, with the bound of package lagrange
//   - branch.go: branch and bound
//   - best.go: the objectives, one after the other
//   - solution.go: a set that was found, and how it is taken
//   - exchange.go, exchange_values.go: one candidate for one or two victims
//   - history.go: for an explanation, how better victims were found
//
// Nothing here depends on time or on the machine: the effort is limited by a number of steps.
package best
