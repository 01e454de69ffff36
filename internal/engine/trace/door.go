package trace

// Decide decides like a *preemption.Preemptor about a *preemption.Snapshot and a
// preemption.Request, and records how the preemption.Decision came about. It is for packages
// of this module. Package preemption sets it at initialization; that package imports this
// one, so the parameters have type any.
var Decide func(preemptor, snapshot, request any, r *Recorder) (decision any, names Names, err error)

// Names turns the integers of a record into names.
type Names struct {
	// Node names a queue or cohort, as `cohort "research"`.
	Node func(node int) string
	// Slot returns the flavor and resource of a slot.
	Slot func(slot int) (flavor, resource string)
	// PodSet names a pod set of a running workload.
	PodSet func(workload string, podSet int) string
}
