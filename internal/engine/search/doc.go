// Package search finds the victims of one request in a cluster: the core, which the
// packages fair (whose turn it is where shares decide) and when (at which instant it would
// succeed) build on, and which package decide puts together with them. The rules are those
// of KEP-83 and of Kueue's classical preemption in hierarchical cohorts.
//
// One decision walks through the files like this:
//
//   - search: [Search.Begin] takes the request and a copy of the usage;
//   - fit: does the request fit as it is?
//   - levels: from which cohorts may the queue reclaim, and by which right?
//   - rules, guarantee: who may yield at all, and who not yet?
//   - phases, merge, stream: who comes first? Candidates come one by one, so that nobody
//     is looked at who comes after the last victim. (largest_first: another order.)
//   - attempt: take candidates until the request fits;
//   - bounds: stop early where sums prove that the request is hopeless;
//   - put_back: put those back without whom it fits as well;
//   - blockers: who stood in the way, when nothing helped?
package search
