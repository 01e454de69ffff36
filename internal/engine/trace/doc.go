// Package trace records how an answer came about, step by step, where each step is
// decided. It is plain data and knows no rule.
//
// The engine holds a *[Recorder] that is nil unless somebody wants to know, and each hook
// is
//
//	if t := r.Trace; t != nil {
//		t.Add(trace.Step{Kind: trace.PutBack, Workload: id})
//	}
//
// so that a decision without a recorder pays one comparison a step and allocates nothing.
// Nodes of the quota tree, slots of a request and instants stay the integers that the
// engine works with; the package that gave them out gives them their names back. IDs are
// the caller's strings, which cost nothing to keep.
//
// What is recorded is bounded, however large the cluster is: of the candidates that one rule
// passes over in one phase a few are named and all are counted ([Step.Count]); and past
// [Recorder.MaxSteps] steps are counted only ([Recorder.Dropped]).
package trace
