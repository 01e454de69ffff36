package trace

// Decide decides as a *preemption.Preemptor does, about a *preemption.Snapshot and a
// preemption.Request, and records how the preemption.Decision came about. It is a door for
// what belongs to this module. Package preemption sets it when it is initialized; it imports
// this one, hence the types.
var Decide func(preemptor, snapshot, request any, r *Recorder) (decision any, names Names, err error)

// Names gives what is recorded of one decision its names back.
type Names struct {
	// Node is that of a queue or cohort, as in `cohort "research"`.
	Node func(node int) string
	// Slot is a flavor and a resource.
	Slot func(slot int) (flavor, resource string)
	// PodSet is a pod set of a workload that runs.
	PodSet func(workload string, podSet int) string
}
