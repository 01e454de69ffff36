// Package when finds the first instant at which a request that does not succeed now succeeds,
// if nothing but time changes.
//
// A decision can change only at an event: an instant at which the verdict on a workload, or
// its place in the order, changes (events). Two tests choose which events are tried. The
// first finds the first instant at which enough workloads may yield: from intervals in which
// no verdict changes and sums of the protected workloads (first_fit, intervals), or, for
// guards and rooms, with a look at every workload (scan). The second limits what an attempt
// can take from each donor (bound). At the remaining events the caller makes a trial search.
package when
