// Package search is the core of the search for the victims of one request in a cluster. The
// packages fair (fair sharing) and when (RetryAt) use it; package decide combines them. The
// rules are those of KEP-83 and of Kueue's classical preemption in hierarchical cohorts.
//
// The files, in the order of a decision:
//
//   - search: [Search.Begin] takes the request and a copy of the usage;
//   - fit: does the request fit without victims?
//   - levels: from which cohorts may the queue reclaim, and by which right?
//   - rules, guarantee: who may yield, and who is protected until when?
//   - phases, merge, stream: the order of candidates. They come one by one, so nobody
//     after the last victim is looked at. (largest_first: another order.)
//   - attempt: take candidates until the request fits;
//   - bounds: stop early if sums prove that the request is hopeless;
//   - put_back: put back the victims that are not needed;
//   - blockers: if nothing helps, who may not yield, and by which rule?
package search
