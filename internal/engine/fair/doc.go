// Package fair finds victims by shares: fair sharing, as KEP-1714 has it. A tournament says
// whose turn it is (brackets), of each queue its candidates come in order (fair_queue), and
// the strategies say whether one may be taken (fair); where configured they are asked again
// before one is put back (justified). Everything else is the core's, package search.
package fair
