// Package when finds the first instant at which a request succeeds that is impossible now,
// with nothing but time changed.
//
// A decision can change only at an event: an instant at which the verdict on somebody, or
// somebody's place in the order, changes (events). Which of them are worth a trial say two
// tests. The first finds the first instant at which enough may yield, from the intervals in
// which nobody's verdict changes and the sums of who is kept (first_fit, intervals), or
// with a look at every workload, where rules of the caller or places on nodes need it
// (scan). The second bounds what an attempt can take of each donor (bound). What is left is
// tried: whether the request succeeds is the caller's to say, as the search does.
package when
