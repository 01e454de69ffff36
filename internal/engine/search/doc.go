// Package search finds the victims of one request in a cluster. The five steps of a
// decision are its files: candidates (whose workloads may be looked at, and by
// which right), rules (which of them may yield), order (who comes first), search
// (take until it fits, give back what is not needed), fit (does it). The rules are
// those of KEP-83 and of Kueue's classical preemption in hierarchical cohorts.
//
// A [Searcher] works on a scratch copy of the usage that it touches and may be used
// again, by one goroutine at a time.
package search
