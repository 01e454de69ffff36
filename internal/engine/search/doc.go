// Package search is the loop of the search for the victims of one request: it takes candidates
// from a source until the request fits, and puts back the victims that are not needed.
//
//   - search: [Search.Begin] takes the request;
//   - fit: does the request fit without the victims taken so far?
//   - take: a candidate becomes a victim, or is put back;
//   - attempts: which attempts are made, and one attempt;
//   - put_back: put back the victims that are not needed;
//   - leaving: what leaves already is taken first;
//   - bounds: stop early if sums prove that the request is hopeless;
//   - room: victims on nodes.
//
// Package right says which workloads may yield, package source in which order they come. The rules
// are those of KEP-83 and of Kueue's classical preemption in hierarchical cohorts.
package search
