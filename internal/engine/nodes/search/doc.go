// Package search looks for victims on nodes: the steps in the comment of package placement.
//
// Its files stand on each other: steps.go searches one domain, sums.go refuses domains by sums, domains.go goes through the domains, preempt.go chooses among them, decide.go decides
// at one instant, why.go says what is missing and in the way, when.go finds the instant at which time helps, and
// search.go answers.
package search
