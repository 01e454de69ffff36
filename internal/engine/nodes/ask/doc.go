// Package ask has requests about nodes and the configuration of decisions, as the engine reads them, and finds what
// is wrong with a request. Nothing changes a request during a decision.
package ask
