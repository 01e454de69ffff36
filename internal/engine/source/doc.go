// Package source yields the candidates of a request, one by one, in the documented order. No
// workload after the last victim is looked at.
//
//   - phases: the order;
//   - stream: the candidates of one lane of one donor;
//   - merge: the streams of a phase, merged; cohorts of which the queues come later are opened when
//     their turn comes;
//   - donor_queue: the candidates of one donor through all phases, for fair sharing;
//   - by_size, by_usage: other orders;
//   - candidates: all candidates of all attempts, for the search for better victims.
package source
