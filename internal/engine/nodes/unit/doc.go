// Package unit says which units may yield to a request, and which rule keeps the others until when.
//
// [Judge.Verdict] is the only place that decides this. Searches, blockers, RetryAt, traces and explanations read it.
package unit
