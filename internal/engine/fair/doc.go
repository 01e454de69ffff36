// Package fair finds victims by fair sharing (KEP-1714). A tournament chooses the next queue
// (brackets); the candidates of each queue come in order (fair_queue); the strategies say
// whether a candidate may be taken (fair) and, if configured, whether a victim may be put
// back (justified). The rest is in package search.
package fair
