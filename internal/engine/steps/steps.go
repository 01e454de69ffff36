// Package steps tells benchmarks and tests what a decision costs. It is not part of the API: the
// numbers may change with any version.
package steps

// Count is what one decision costs, in numbers that do not depend on the machine.
type Count struct {
	Workloads int // looked at
	Trials    int // how often it was asked whether the request fits
	Nodes     int // of the quota tree whose usage was copied
}

// Of asks a *preemption.Preemptor about a *preemption.Snapshot and a preemption.Request, and
// returns what the decision costs. Package preemption sets it when it is initialized; it
// imports this one, hence the types.
var Of func(preemptor, snapshot, request any) (Count, error)
