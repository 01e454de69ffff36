// Package trace records how an answer came about, each step where it is decided. It is plain
// data and has no rules.
//
// The engine holds a *[Recorder], which is nil unless a caller wants the steps. Each hook is
//
//	if t := r.Trace; t != nil {
//		t.Add(trace.Step{Kind: trace.PutBack, Workload: id})
//	}
//
// so a decision without a recorder pays one comparison for each step and allocates nothing.
// Nodes of the quota tree, slots of a request and instants stay the integers of the engine;
// the package that numbered them turns them into names again. IDs are the caller's strings,
// which cost nothing to keep.
//
// The size of a record is limited, however large the cluster is: of the candidates that one
// rule skips in one phase a few are named and all are counted ([Step.Count]); steps after
// [Recorder.MaxSteps] are only counted ([Recorder.Dropped]).
package trace
