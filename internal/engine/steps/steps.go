// Package steps tells benchmarks and tests how many workloads a decision looked at. It is not
// part of the API: the number may change with any version.
package steps

// Of asks a *preemption.Preemptor about a *preemption.Snapshot and a
// preemption.Request, and returns how many workloads it looked at. Package preemption
// sets it when it is initialized; it imports this one, hence the types.
var Of func(preemptor, snapshot, request any) (int, error)
